package analytics

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// The empty batches whose memory is kept, up to 500 KB each.
const spareBatches = 4

// A queue holds batches in the order of the calls. Callers append to the last one while the sender has the first one.
// When the sender is slower than the callers, the last one grows up to the limits of a request. So a busy client sends
// fewer, larger requests.
type queue struct {
	flushAt     int
	size        int
	bytes       int
	blocks      bool
	batchBytes  int
	batchLength int
	// Stores each message before it is added, or nil.
	store func(message []byte) (number uint64, err error)
	// Whether the sender makes this call, which must not wait.
	isSender func() bool

	// Has capacity 1: a second wake-up before the first is read adds nothing.
	wake chan struct{}

	mu sync.Mutex
	// Not yet received by the sender.
	waiting []*batch
	// Empty batches, whose memory is reused.
	spare []*batch
	// Messages added and settled since the start. The difference is queued, in flight or aside.
	added, settled uint64
	// Bytes of the messages that are queued or in flight.
	heldBytes int
	// The sender does not wait for more messages while one of the first of this number waits.
	flushTo uint64
	// Written with mu held. Read without it, as an early check.
	closed atomic.Bool
	// Signals to callers that wait for capacity that a message was settled, or that the queue was closed.
	capacity *sync.Cond
	flushes  []*flush
}

// A flush waits until the messages before `end` are settled, of which some are left.
type flush struct {
	end, left uint64
	done      chan struct{}
}

// newQueue creates a queue with limits in messages and bytes. Its batches leave `reserved` bytes of a request for the
// data around the messages.
func newQueue(flushAt, size, bytes int, blocks bool, reserved int) *queue {
	q := &queue{size: size, bytes: bytes, blocks: blocks, wake: make(chan struct{}, 1)}
	q.batchBytes = maxBatchBytes - reserved
	q.flushAt = min(flushAt, size, maxBatchMessages)
	q.batchLength = maxBatchMessages
	if q.flushAt == 1 {
		q.batchLength = 1
	}
	q.capacity = sync.NewCond(&q.mu)
	return q
}

// add copies a message into the queue. Where it waits for capacity, it waits no longer than ctx.
func (q *queue) add(ctx context.Context, message []byte, calledAt time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.awaitCapacity(ctx, len(message)); err != nil {
		return err
	}
	if q.store == nil {
		q.append(message, calledAt)
		return nil
	}
	number, err := q.store(message)
	if err != nil {
		return err
	}
	b := q.append(message, calledAt)
	b.stored = append(b.stored, number)
	return nil
}

func (q *queue) awaitCapacity(ctx context.Context, messageBytes int) error {
	waits := false
	for !q.closed.Load() && q.isFull(messageBytes) {
		if !q.blocks {
			return ErrQueueFull
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", ErrQueueFull, context.Cause(ctx))
		}
		if !waits {
			waits = true
			if q.isSender() {
				return fmt.Errorf("%w: %w", ErrQueueFull, ErrInCallback)
			}
			if ctx.Done() != nil {
				defer context.AfterFunc(ctx, q.wakeCallers)()
			}
		}
		// Fewer messages than flushAt may be queued: the limit in bytes can be reached first.
		q.flushTo = q.added
		q.wakeSender()
		q.capacity.Wait()
	}
	if q.closed.Load() {
		return ErrClosed
	}
	return nil
}

func (q *queue) wakeCallers() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.capacity.Broadcast()
}

func (q *queue) append(message []byte, calledAt time.Duration) *batch {
	last := q.lastFor(message)
	if len(last.ends) == 0 {
		last.first = q.added
	}
	last.add(message, calledAt)
	q.added++
	q.heldBytes += len(message)
	if len(last.ends) == q.flushAt {
		q.wakeSender()
	}
	return last
}

// restore adds a stored message of an earlier process, also beyond the limits: the earlier process kept to them. Its age
// is that of the system clock. Where the clock was set back, the age begins now.
func (q *queue) restore(message []byte, storedAt time.Time, number uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	b := q.append(message, sinceStart(now)-max(0, now.Sub(storedAt)))
	b.stored = append(b.stored, number)
}

func (q *queue) isFull(messageBytes int) bool {
	held := q.added - q.settled
	return held >= uint64(q.size) || held > 0 && q.heldBytes+messageBytes > q.bytes
}

// lastFor returns the batch for the message: the last one, or a new one.
func (q *queue) lastFor(message []byte) *batch {
	if n := len(q.waiting); n > 0 {
		last := q.waiting[n-1]
		if len(last.ends) < q.batchLength && len(last.body)+1+len(message) <= q.batchBytes {
			return last
		}
	}
	var added *batch
	if n := len(q.spare); n > 0 {
		added, q.spare = q.spare[n-1], q.spare[:n-1]
	} else if n := len(q.waiting); n > 0 && q.batchLength > 1 {
		// The calls are faster than the sender, so this batch will probably be as large as the one before.
		added = newBatch(len(q.waiting[n-1].body), len(q.waiting[n-1].ends))
	} else {
		added = &batch{}
	}
	q.waiting = append(q.waiting, added)
	if len(q.waiting) > 1 {
		q.wakeSender()
	}
	return added
}

func (q *queue) wakeSender() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// next returns the first batch when it is due, or nil.
func (q *queue) next() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 1 && len(q.waiting[0].ends) < q.flushAt && q.waiting[0].first >= q.flushTo {
		return nil
	}
	return q.takeFirst()
}

// nextOfAny returns the first batch, whether it is due or not, or nil.
func (q *queue) nextOfAny() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.takeFirst()
}

func (q *queue) takeFirst() *batch {
	if len(q.waiting) == 0 {
		return nil
	}
	first := q.waiting[0]
	n := copy(q.waiting, q.waiting[1:])
	q.waiting[n] = nil
	q.waiting = q.waiting[:n]
	return first
}

// settle frees the capacity of messages that were sent or reported.
func (q *queue) settle(b *batch, p part) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.settled += uint64(p.size())
	q.heldBytes -= b.messageBytes(p)
	q.capacity.Broadcast()
	from, to := b.first+uint64(p.from), b.first+uint64(p.to)
	pending := q.flushes[:0]
	for _, flush := range q.flushes {
		if from < flush.end {
			flush.left -= min(to, flush.end) - from
		}
		if flush.left == 0 {
			close(flush.done)
		} else {
			pending = append(pending, flush)
		}
	}
	q.flushes = pending
}

// recycle keeps the memory of a batch whose messages are settled.
func (q *queue) recycle(b *batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	b.reset()
	if len(q.spare) < spareBatches {
		q.spare = append(q.spare, b)
	}
}

// flush makes all messages that were added so far due, and returns a channel that is closed when they are settled.
func (q *queue) flush() (settled <-chan struct{}, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	done := make(chan struct{})
	if q.settled == q.added {
		close(done)
		return done, q.closed.Load()
	}
	q.flushTo = q.added
	q.flushes = append(q.flushes, &flush{end: q.added, left: q.added - q.settled, done: done})
	q.wakeSender()
	return done, q.closed.Load()
}

// waited is how long ago the first call was made that the sender has not received.
func (q *queue) waited() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return 0
	}
	return sinceStart(time.Now()) - q.waiting[0].calledAt[0]
}

// release makes all messages that were added so far due.
func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flushTo = q.added
}

// close refuses further messages and makes all queued ones due.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed.Store(true)
	q.flushTo = q.added
	q.capacity.Broadcast()
	q.wakeSender()
}

// finished reports whether the queue is closed and empty.
func (q *queue) finished() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed.Load() && len(q.waiting) == 0
}

// totals are the messages that were added since the start, and those that are queued or in flight, with their bytes.
func (q *queue) totals() (added uint64, held, heldBytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.added, int(q.added - q.settled), q.heldBytes
}
