package analytics

import (
	"context"
	"math/rand"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tailrace/tailrace/packages/analytics-go/v2/internal/journal"
)

const (
	firstBackoff   = 100 * time.Millisecond
	longestBackoff = 10 * time.Second
	// After this many single messages were refused one after another, and none was accepted in between, the service
	// refuses something that all messages have, and the rest of the batch is not sent.
	maxRefusedInRow = 16
	// The attempt whose failure is logged.
	noticedAttempt = 3
	// From this attempt on, a failure without an explanation makes requests smaller.
	unexplainedAttempt = 5
)

// A sender gets batches from the queue and posts them, one request at a time, to keep the order of the calls. A failed
// request is retried until it succeeds or is given up, so no message overtakes it, except one that the service refuses while
// it takes others (refusal.go).
type sender struct {
	queue       *queue
	poster      *poster
	report      *reporter
	log         logs
	maxAttempts int
	// 0 for no limit.
	maxAge time.Duration

	// The maximum number of messages of a request. It is halved by a timeout, and doubled by a success.
	window int

	// The batches in hand, the first one next. There is more than one only while a probe needs another.
	jobs []*job
	// The last attempt for them, and the failed ones in a row.
	last     result
	attempts int
	// What failed last, and the failures from which on the service may fail for one of the messages.
	failedBatch *batch
	failedPart  part
	patience    int
	// Single messages that were refused permanently, in a row.
	refusedInRow int
	// Requests that were taken, and whether the last one for a batch was one of them.
	taken        uint64
	isAfterTaken bool
	// How far behind the first message the next probe is.
	probePlaces int
	aside       *asideList
	leastAside  time.Duration
	backoff     func(attempt int) time.Duration
	// Writes the messages aside again behind the others in the files of the queue, where they keep settled ones; or nil.
	compact func(held []*asideMessage, always bool)

	// The number of the goroutine that sends.
	goroutine  atomic.Uint64
	stuckAfter time.Duration

	// Ends when the deadline of Close passes.
	ctx  context.Context
	stop context.CancelFunc
	done chan struct{}
	// Damages of the files of the queue, which are reported first.
	damages []journal.Damage
	// Closes the files of the queue, after the last message is settled.
	release func()
}

func newSender(c *Client, queue *queue, poster *poster, report *reporter) *sender {
	s := &sender{
		queue:       queue,
		poster:      poster,
		report:      report,
		log:         report.log,
		maxAttempts: c.MaxAttempts,
		maxAge:      max(0, c.MaxAge),
		window:      maxBatchMessages,
		probePlaces: 1,
		patience:    suspicious,
		aside:       newAsideList(queue.size, queue.bytes, queue.batchLength, queue.batchBytes),
		leastAside:  leastAside,
		backoff:     backoff,
		compact:     func([]*asideMessage, bool) {},
		stuckAfter:  stuckAfter,
		done:        make(chan struct{}),
		release:     func() {},
	}
	if c.MaxAge == 0 {
		s.maxAge = defaultMaxAge
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// run sends until the queue is closed and empty.
func (s *sender) run(flushAfter time.Duration) {
	defer close(s.done)
	defer s.stop()
	defer func() { s.release() }()
	defer s.poster.disconnect()
	s.goroutine.Store(goroutineID())
	for _, damage := range s.damages {
		s.report.damaged(damage)
	}
	ticker := time.NewTicker(flushAfter)
	defer ticker.Stop()
	for mayAside := true; ; {
		if s.ctx.Err() != nil {
			s.closeAside()
		}
		if mayAside && s.attemptAside() {
			// The others are next, however soon another attempt is due.
			mayAside = false
			continue
		}
		mayAside = true
		switch {
		case s.receive():
			s.attempt()
			if s.finishJobs() {
				// Calls that were made meanwhile have waited already.
				ticker.Reset(max(1, flushAfter-s.queue.waited()))
			}
		case s.queue.finished() && len(s.aside.messages) == 0:
			s.log.debug("closed")
			return
		default:
			s.wait(ticker, flushAfter)
		}
	}
}

// wait ends when something is to be done.
func (s *sender) wait(ticker *time.Ticker, flushAfter time.Duration) {
	var asideDue <-chan time.Time
	if len(s.aside.messages) > 0 {
		timer := time.NewTimer(s.aside.nextAt - sinceStart(time.Now()))
		defer timer.Stop()
		asideDue = timer.C
	}
	select {
	case <-s.queue.wake:
	case <-ticker.C:
		s.queue.release()
		ticker.Reset(flushAfter)
	case <-asideDue:
	case <-s.ctx.Done():
	}
}

// receive reports whether a batch is in hand, or is now.
func (s *sender) receive() bool {
	if len(s.jobs) > 0 {
		return true
	}
	b := s.queue.next()
	if b == nil {
		return false
	}
	s.jobs = append(s.jobs, newJob(b))
	return true
}

// finishJobs recycles the batches of which each message is settled or aside, and reports whether there were any.
func (s *sender) finishJobs() bool {
	before := len(s.jobs)
	if len(s.jobs[0].left) == 0 {
		s.last, s.attempts, s.refusedInRow = result{}, 0, 0
	}
	s.jobs = slices.DeleteFunc(s.jobs, func(j *job) bool {
		if len(j.left) > 0 {
			return false
		}
		s.queue.recycle(j.batch)
		return true
	})
	return len(s.jobs) < before
}

// attempt sends the next part of the first batch.
func (s *sender) attempt() {
	j := s.jobs[0]
	if s.ctx.Err() != nil {
		s.giveUp(j, func(p part) { s.report.closed(j.batch, p, s.last, s.attempts) })
		return
	}
	whole := j.top()
	next := j.take(s.window)
	s.last = s.poster.post(s.ctx, j.batch.text(next), next.size())
	s.attempts++
	s.report.attempted(s.attempts)
	afterTaken := s.isAfterTaken
	s.isAfterTaken = false
	switch {
	case s.last.outcome == accepted:
		again := j.batch == s.failedBatch && next.from == s.failedPart.from && next.to >= s.failedPart.to
		if again && s.attempts > 1 {
			s.takenAfter(s.attempts - 1)
		}
		s.accepted(j.batch, next, s.last, s.attempts)
		s.attempts = 0
	case s.last.outcome == retried:
		j.putBack(next, whole)
		s.narrow(next, s.last, s.attempts)
		if s.ctx.Err() == nil {
			s.retry(j, next, afterTaken)
		}
	case s.last.outcome == divided && len(s.last.rejected) == next.size():
		// The service names the problem of each message.
		s.report.rejected(j.batch, next, s.last, s.attempts)
		s.attempts = 0
	case s.last.outcome == divided && next.size() > 1:
		j.divide(next, next.size()/2)
		s.attempts = 0
	default:
		s.report.unsent(j.batch, next, Refused, s.last, s.attempts)
		s.attempts = 0
		if s.last.outcome == divided {
			s.refusedInRow++
		}
		if s.refusedInRow == maxRefusedInRow {
			s.giveUp(j, func(p part) { s.report.unsent(j.batch, p, Refused, s.last, 0) })
		}
	}
	s.tidy()
}

func (s *sender) accepted(b *batch, p part, answer result, attempts int) {
	s.taken++
	s.isAfterTaken, s.refusedInRow, s.probePlaces = true, 0, 1
	s.widen(answer)
	s.report.sent(b, p, answer, attempts)
}

// takenAfter notes that the service has taken what it had refused so often in a row: it fails whatever a request has.
func (s *sender) takenAfter(refusals int) {
	s.patience = patienceAfter(refusals, s.patience)
	for _, j := range s.jobs {
		j.join()
	}
}

// retry decides what becomes of a failed request, which was put back, and waits.
func (s *sender) retry(j *job, failed part, afterTaken bool) {
	if s.attempts == s.maxAttempts {
		s.giveUp(j, func(p part) { s.report.unsent(j.batch, p, Exhausted, s.last, s.attempts) })
		return
	}
	if young := s.firstYoung(j.batch, failed.from); young > failed.from {
		for _, p := range j.before(young) {
			s.report.unsent(j.batch, p, Expired, s.last, s.attempts)
		}
	}
	if len(j.left) == 0 {
		return
	}
	state := waiting
	again := part{max(failed.from, j.top().from), failed.to}
	s.failedBatch, s.failedPart = j.batch, again
	if s.last.serverError && again.size() > 0 {
		room := s.aside.hasRoom(j.batch.messageBytes(part{again.from, again.from + 1}))
		state = refusal{again.size(), s.attempts, s.patience, j.isSplit, afterTaken, room}.nextState()
	}
	last := s.last
	switch state {
	case split:
		j.isSplit = true
		j.divide(j.take(again.size()), firstPart(again.size(), s.attempts))
		if afterTaken {
			return
		}
	case probing:
		j.isSplit = true
		probed, made := s.probe()
		if made && probed.outcome != retried {
			s.attempts = 0
			return
		}
		last.retryAfter = max(last.retryAfter, probed.retryAfter)
	case aside:
		j.take(1)
		s.attempts, s.patience = 0, suspicious
		s.aside.add(j.batch, again.from, s.taken)
		s.log.warn("a message is refused while others are sent, and is retried aside", "error", last.err)
		return
	}
	s.pause(s.attempts, failed, last)
}

// giveUp settles all messages of a batch that are left.
func (s *sender) giveUp(j *job, settle func(part)) {
	for _, p := range j.rest() {
		settle(p)
	}
	j.left = nil
}

// narrow halves the requests after a timeout: a slow connection may be able to send a smaller one in time. It also does after
// repeated failures without an explanation: some servers end the connection where a request is too large.
func (s *sender) narrow(p part, last result, attempts int) {
	if last.timedOut || last.unexplained && attempts >= unexplainedAttempt {
		s.window = min(s.window, max(1, (p.size()+1)/2))
	}
}

// widen doubles the requests after a success, unless it took so long that a request of twice the size would time out.
func (s *sender) widen(last result) {
	if s.window < maxBatchMessages && last.took <= s.poster.http.Timeout/2 {
		s.window = min(2*s.window, maxBatchMessages)
	}
}

// firstYoung returns the index of the first message that is not too old to be retried.
func (s *sender) firstYoung(b *batch, index int) int {
	if s.maxAge == 0 {
		return index
	}
	return b.olderThan(s.maxAge, index)
}

// pause waits before the next attempt, or until the deadline of Close passes.
func (s *sender) pause(attempts int, p part, last result) {
	pause := s.backoff(attempts)
	if last.retryAfter > pause {
		// Spread the retries, because many clients may have received the same date.
		pause = last.retryAfter + pause/2
	}
	if attempts == noticedAttempt {
		s.log.warn("messages are not sent, and are retried", "messages", p.size(), "attempt", attempts, "error", last.err)
	} else {
		s.log.debug("attempt failed", "messages", p.size(), "attempt", attempts, "pause", pause, "error", last.err)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
}

// backoff doubles with each attempt, less a random share of up to a half, so that clients do not retry at the same
// time.
func backoff(attempt int) time.Duration { return jittered(attempt, firstBackoff, longestBackoff) }

func jittered(attempt int, first, longest time.Duration) time.Duration {
	full := longest
	if doublings := attempt - 1; doublings < 7 {
		full = min(full, first<<doublings)
	}
	return full/2 + time.Duration(rand.Int63n(int64(full/2)+1))
}
