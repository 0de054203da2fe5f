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
	// The shortest time between two attempts for messages aside, so that many of them do not burden the service.
	asidePace = time.Second
)

// An asideMessage is a message that the service refuses while it takes others.
type asideMessage struct {
	// Has this message alone.
	batch *batch
	// When it was set aside, and when its next attempt is due.
	since, dueAt time.Duration
	attempts     int
	// Refusals alone, with another request taken before each, and the requests that were taken before the last one.
	refusals    int
	takenBefore uint64
}

// An asideList has the messages aside. Each waits for its own next attempt, so that it holds up nothing behind it. They are
// still queued messages: at most half of the queue is aside. It is used by one goroutine.
type asideList struct {
	// Limits of half a queue.
	size, bytes int
	held        int
	messages    []*asideMessage
	attemptedAt time.Duration
	// When the next attempt may be made, if there are messages.
	nextAt  time.Duration
	pace    time.Duration
	backoff func(attempt int) time.Duration
}

func newAsideList(queueSize, queueBytes int) *asideList {
	return &asideList{size: queueSize / 2, bytes: queueBytes / 2, attemptedAt: -asidePace, pace: asidePace, backoff: asideBackoff}
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
	l.putBack(&asideMessage{batch: alone, since: sinceStart(time.Now()), takenBefore: taken})
}

// putBack lets a message wait for another attempt.
func (l *asideList) putBack(m *asideMessage) {
	m.attempts++
	m.dueAt = sinceStart(time.Now()) + l.backoff(m.attempts)
	l.messages = append(l.messages, m)
	l.held += len(m.batch.body)
	l.update()
}

// takeDue removes and returns the message whose attempt is due, or nil.
func (l *asideList) takeDue() *asideMessage {
	now := sinceStart(time.Now())
	if len(l.messages) == 0 || now < l.nextAt {
		return nil
	}
	index := slices.IndexFunc(l.messages, func(m *asideMessage) bool { return m.dueAt <= now })
	due := l.messages[index]
	l.messages = slices.Delete(l.messages, index, index+1)
	l.held -= len(due.batch.body)
	l.attemptedAt = now
	l.update()
	return due
}

// recovered makes all messages due, because one of them was taken: the service may have recovered.
func (l *asideList) recovered() {
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
	m := s.aside.takeDue()
	if m == nil {
		return false
	}
	all := part{0, 1}
	answer := s.poster.post(s.ctx, m.batch.text(all), 1)
	s.report.attempted(m.attempts + 1)
	switch {
	case answer.outcome == accepted:
		s.aside.recovered()
		s.accepted(m.batch, all, answer, m.attempts)
	case answer.outcome == retried:
		s.retryAside(m, all, answer)
	case len(answer.rejected) == 1:
		s.report.rejected(m.batch, all, answer, m.attempts)
	default:
		s.report.unsent(m.batch, all, Refused, answer, m.attempts)
	}
	s.tidy()
	return true
}

func (s *sender) retryAside(m *asideMessage, all part, answer result) {
	switch {
	case s.ctx.Err() != nil:
		s.aside.putBack(m)
		return
	case m.attempts == s.maxAttempts:
		s.report.unsent(m.batch, all, Exhausted, answer, m.attempts)
		return
	case s.firstYoung(m.batch, 0) > 0:
		s.report.unsent(m.batch, all, Expired, answer, m.attempts)
		return
	case !answer.serverError:
		s.aside.putBack(m)
		s.pause(1, all, answer)
		return
	}
	if s.taken > m.takenBefore {
		m.refusals++
	}
	m.takenBefore = s.taken
	if asideState(m.refusals, sinceStart(time.Now())-m.since, s.leastAside) == reported {
		s.report.unsent(m.batch, all, Refused, answer, m.attempts)
		return
	}
	s.aside.putBack(m)
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
