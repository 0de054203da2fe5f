package analytics

import (
	"cmp"
	"slices"
	"time"
)

const (
	// The pause before the next attempt for a message aside doubles from the first to the longest.
	firstAsideBackoff   = time.Second
	longestAsideBackoff = time.Minute
	// The shortest time after an attempt for messages aside, so that many of them do not burden the service, and others are sent
	// in between however long the attempts take.
	asidePace = time.Second
)

// An asideMessage is a message that the service refuses while it takes others.
type asideMessage struct {
	// Has this message alone.
	batch *batch
	// When it was set aside, and when its next attempt is due.
	since, dueAt time.Duration
	// Failed requests, and delays after them.
	attempts, delays int
	// Refusals alone, with another request taken before each, and the requests that were taken before the last one.
	refusals    int
	takenBefore uint64
}

// An asideList has the messages aside. Each waits for its own next attempt, so that it holds up nothing behind it. They are
// still queued messages: at most half of the queue is aside. It is used by one goroutine.
//
// Where the service fails at random, good messages are here too, and more may come than leave one by one. So after one was
// taken, the others are tried together, and then in parts that are half as large after each failure.
type asideList struct {
	// Limits of half a queue.
	size, bytes int
	held        int
	messages    []*asideMessage
	// How many messages are tried together, and the limits of a request.
	together                      int
	requestMessages, requestBytes int
	attemptedAt                   time.Duration
	// When the next attempt may be made, if there are messages.
	nextAt  time.Duration
	pace    time.Duration
	backoff func(attempt int) time.Duration
}

func newAsideList(queueSize, queueBytes, requestMessages, requestBytes int) *asideList {
	return &asideList{
		size: queueSize / 2, bytes: queueBytes / 2, together: 1,
		requestMessages: requestMessages, requestBytes: requestBytes,
		attemptedAt: -asidePace, pace: asidePace, backoff: asideBackoff,
	}
}

func asideBackoff(attempt int) time.Duration {
	return jittered(attempt, firstAsideBackoff, longestAsideBackoff)
}

func (l *asideList) hasRoom(messageBytes int) bool {
	return len(l.messages) < l.size && l.held+messageBytes <= l.bytes
}

// add sets a message of a batch aside.
func (l *asideList) add(b *batch, index int, taken uint64) {
	alone := b.alone(index)
	l.delay(&asideMessage{batch: alone, since: sinceStart(time.Now()), takenBefore: taken, attempts: 1})
}

// putBack lets a message wait for another attempt.
func (l *asideList) putBack(m *asideMessage) {
	l.attemptedAt = sinceStart(time.Now())
	l.delay(m)
}

func (l *asideList) delay(m *asideMessage) {
	m.delays++
	m.dueAt = sinceStart(time.Now()) + l.backoff(m.delays)
	l.keep(m)
}

func (l *asideList) keep(m *asideMessage) {
	l.messages = append(l.messages, m)
	l.held += len(m.batch.body)
	l.update()
}

// takeDue removes and returns the messages for the attempt that is due: none, one, or some after recovered.
func (l *asideList) takeDue() []*asideMessage {
	now := sinceStart(time.Now())
	if len(l.messages) == 0 || now < l.nextAt {
		return nil
	}
	var due []*asideMessage
	bytes := 0
	l.messages = slices.DeleteFunc(l.messages, func(m *asideMessage) bool {
		size := len(m.batch.body) + 1
		fits := len(due) == 0 || bytes+size <= l.requestBytes && len(due) < min(l.together, l.requestMessages)
		if m.dueAt > now || !fits {
			return false
		}
		due, bytes = append(due, m), bytes+size
		return true
	})
	l.held -= bytes - len(due)
	l.attemptedAt = now
	l.update()
	return due
}

// narrow keeps messages that failed together: the next attempt has half as many.
func (l *asideList) narrow(failed []*asideMessage) {
	l.attemptedAt = sinceStart(time.Now())
	l.together = (len(failed) + 1) / 2
	for _, m := range failed {
		l.keep(m)
	}
}

// recovered makes all messages due, together, because some of them were taken: the service may have recovered.
func (l *asideList) recovered() {
	l.together = l.requestMessages
	l.attemptedAt = sinceStart(time.Now()) - l.pace
	for _, m := range l.messages {
		m.dueAt = min(m.dueAt, l.attemptedAt+l.pace)
	}
	l.update()
}

func (l *asideList) clear() { l.messages, l.held = nil, 0 }

func (l *asideList) update() {
	if len(l.messages) == 0 {
		return
	}
	earliest := slices.MinFunc(l.messages, func(a, b *asideMessage) int { return cmp.Compare(a.dueAt, b.dueAt) })
	l.nextAt = max(earliest.dueAt, l.attemptedAt+l.pace)
}

// inOrder returns the messages in the order of their calls.
func (l *asideList) inOrder() []*asideMessage {
	all := slices.Clone(l.messages)
	slices.SortFunc(all, func(a, b *asideMessage) int { return cmp.Compare(a.batch.first, b.batch.first) })
	return all
}

// attemptAside makes an attempt for a message aside, if one is due. While the service takes nothing, such an attempt would
// not say anything.
func (s *sender) attemptAside() bool {
	if s.attempts > 0 && len(s.jobs) > 0 {
		return false
	}
	due := s.aside.takeDue()
	if len(due) == 0 {
		return false
	}
	for r := (row{since: sinceStart(time.Now())}); s.sendAside(due, &r); {
	}
	s.tidy()
	return true
}

// A row is the requests in a row for the same messages aside.
type row struct {
	since     time.Duration
	refusals  int
	isCounted bool
}

// sendAside reports whether the next request is for the same messages.
func (s *sender) sendAside(due []*asideMessage, r *row) bool {
	tried := newBatch(len(due[0].batch.body), len(due))
	for _, m := range due {
		tried.add(m.batch.body, 0)
	}
	answer := s.poster.post(s.ctx, tried.body, len(due))
	s.report.attempted(due[0].attempts + 1)
	switch {
	case answer.outcome == accepted:
		s.aside.recovered()
		s.takenAfter(r.refusals)
		s.accepted(due[0].batch, part{0, 1}, answer.of(0), due[0].attempts)
		for n, m := range due[1:] {
			s.report.sent(m.batch, part{0, 1}, answer.of(n+1), m.attempts)
		}
	case answer.outcome == retried:
		return s.retryAside(due, answer, r)
	case answer.outcome == divided && len(due) > 1 && len(answer.rejected) < len(due):
		s.aside.narrow(due)
	default:
		for n, m := range due {
			if one := answer.of(n); len(one.rejected) == 1 {
				s.report.rejected(m.batch, part{0, 1}, one, m.attempts)
			} else {
				s.report.unsent(m.batch, part{0, 1}, Refused, one, m.attempts)
			}
		}
	}
	return false
}

func (s *sender) retryAside(due []*asideMessage, answer result, r *row) bool {
	all := part{0, 1}
	var left []*asideMessage
	for _, m := range due {
		m.attempts++
		switch {
		case s.ctx.Err() != nil:
			left = append(left, m)
		case m.attempts == s.maxAttempts:
			s.report.unsent(m.batch, all, Exhausted, answer, m.attempts)
		case s.firstYoung(m.batch, 0) > 0:
			s.report.unsent(m.batch, all, Expired, answer, m.attempts)
		default:
			left = append(left, m)
		}
	}
	if len(left) == 0 {
		return false
	}
	if s.ctx.Err() != nil || !answer.serverError {
		for _, m := range left {
			s.aside.putBack(m)
		}
		if s.ctx.Err() == nil {
			s.pause(1, part{0, len(left)}, answer)
		}
		return false
	}
	if len(due) > 1 {
		s.aside.narrow(left)
		return false
	}
	m := left[0]
	r.refusals++
	if r.refusals == 1 && s.taken > m.takenBefore {
		r.isCounted = true
		m.refusals++
	}
	m.takenBefore = s.taken
	now := sinceStart(time.Now())
	switch (refusalAside{m.refusals, now - m.since, r.refusals, now - r.since, r.isCounted}).nextState(s.leastAside) {
	case insisting:
		return true
	case reported:
		s.report.unsent(m.batch, all, Refused, answer, m.attempts)
	default:
		s.aside.putBack(m)
	}
	return false
}

// closeAside reports the messages aside, or keeps them, when the deadline of Close has passed.
func (s *sender) closeAside() {
	held := s.aside.inOrder()
	if len(held) == 0 {
		return
	}
	s.compact(held, true)
	s.aside.clear()
	for _, m := range held {
		s.report.closed(m.batch, part{0, 1}, result{}, 0)
	}
}

// tidy keeps the files of the queue small while messages are aside.
func (s *sender) tidy() {
	if len(s.aside.messages) > 0 {
		s.compact(s.aside.messages, false)
	}
}
