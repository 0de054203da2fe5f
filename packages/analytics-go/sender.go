package analytics

import (
	"context"
	"math/rand"
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
// request is retried until it succeeds or is given up, so no message overtakes it.
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
	for {
		for b := s.queue.next(); b != nil; b = s.queue.next() {
			s.deliver(b)
			s.queue.recycle(b)
			ticker.Reset(flushAfter)
		}
		if s.queue.finished() {
			s.log.debug("closed")
			return
		}
		select {
		case <-s.queue.wake:
		case <-ticker.C:
			s.queue.release()
		}
	}
}

// deliver returns when each message of the batch was sent or reported.
func (s *sender) deliver(b *batch) {
	// The parts that are left, the next one last.
	left := []part{{0, len(b.ends)}}
	attempts, refusedInRow := 0, 0
	var last result
	// The next part, and everything behind it.
	rest := func(from int) part { return part{from, len(b.ends)} }
	for len(left) > 0 {
		depth := len(left) - 1
		whole := left[depth]
		if s.ctx.Err() != nil {
			s.report.closed(b, rest(whole.from), last, attempts)
			return
		}
		next := part{whole.from, min(whole.to, whole.from+s.window)}
		left = left[:depth]
		if next.to < whole.to {
			left = append(left, part{next.to, whole.to})
		}
		last = s.poster.post(s.ctx, b.text(next), next.size())
		attempts++
		s.report.attempted(attempts)

		switch {
		case last.outcome == accepted:
			s.widen(last)
			s.report.sent(b, next, last, attempts)
			attempts, refusedInRow = 0, 0
		case last.outcome == retried:
			left = append(left[:depth], whole)
			s.narrow(next, last, attempts)
			if s.ctx.Err() != nil {
				continue
			}
			if attempts == s.maxAttempts {
				s.report.unsent(b, rest(next.from), Exhausted, last, attempts)
				return
			}
			if young := s.firstYoung(b, next.from); young > next.from {
				s.report.unsent(b, part{next.from, young}, Expired, last, attempts)
				left = from(left, young)
			}
			if len(left) > 0 {
				s.pause(attempts, next, last)
			}
		case last.outcome == divided && len(last.rejected) == next.size():
			// The service names the problem of each message.
			s.report.rejected(b, next, last, attempts)
			attempts = 0
		case last.outcome == divided && next.size() > 1:
			first, second := next.halves()
			left = append(left, second, first)
			attempts = 0
		default:
			s.report.unsent(b, next, Refused, last, attempts)
			attempts = 0
			if last.outcome == divided {
				refusedInRow++
			}
			if refusedInRow == maxRefusedInRow && len(left) > 0 {
				s.report.unsent(b, rest(next.to), Refused, last, 0)
				return
			}
		}
	}
}

// narrow halves the requests after a timeout: a slow connection may be able to send a smaller one in time. It also does after
// repeated failures without an explanation: some servers end the connection where a request is too large, and some fail for
// a message that they cannot handle. Then only this message waits and expires.
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

// from removes the messages before an index from the parts that are left.
func from(left []part, index int) []part {
	for len(left) > 0 {
		next := &left[len(left)-1]
		if next.to > index {
			next.from = max(next.from, index)
			break
		}
		left = left[:len(left)-1]
	}
	return left
}

// pause waits before the next attempt, or until the deadline of Close passes.
func (s *sender) pause(attempts int, p part, last result) {
	pause := backoff(attempts)
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
func backoff(attempt int) time.Duration {
	full := longestBackoff
	if doublings := attempt - 1; doublings < 7 {
		full = min(full, firstBackoff<<doublings)
	}
	return full/2 + time.Duration(rand.Int63n(int64(full/2)+1))
}
