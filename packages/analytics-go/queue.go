package analytics

import (
	"encoding/json"
	"sync"
	"sync/atomic"
)

// Limits of the service for one request.
const (
	maxBatchBytes    = 500 * 1024
	maxBatchMessages = 2500
)

const batchHead = `{"batch":[`

// A batch is the body of a request up to its last message. The rest differs between attempts.
type batch struct {
	body []byte
	// The end of each message in body.
	ends []int
}

func (b *batch) add(message []byte) {
	if len(b.ends) > 0 {
		b.body = append(b.body, ',')
	}
	b.body = append(b.body, message...)
	b.ends = append(b.ends, len(b.body))
}

// messageBytes is the size of the messages, without separators.
func (b *batch) messageBytes() int {
	count := len(b.ends)
	return b.ends[count-1] - len(batchHead) - (count - 1)
}

// message copies one message out of the batch, because the memory of the batch is reused.
func (b *batch) message(i int) json.RawMessage {
	start := len(batchHead)
	if i > 0 {
		start = b.ends[i-1] + 1
	}
	return append(json.RawMessage(nil), b.body[start:b.ends[i]]...)
}

func (b *batch) messages() []json.RawMessage {
	all := make([]json.RawMessage, len(b.ends))
	for i := range all {
		all[i] = b.message(i)
	}
	return all
}

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

	// Has capacity 1: a second wake-up before the first is read adds nothing.
	wake chan struct{}

	mu sync.Mutex
	// Not yet received by the sender.
	waiting []*batch
	// Empty batches, whose memory is reused.
	spare []*batch
	// Messages added and settled since the start. The difference is queued or in flight.
	added, settled uint64
	// Bytes of the messages that are queued or in flight.
	heldBytes int
	// The sender does not wait for more messages until this many are settled.
	flushTo uint64
	// Written with mu held. Read without it, as an early check.
	closed atomic.Bool
	// Signals to callers that wait for capacity that a message was settled, or that the queue was closed.
	capacity *sync.Cond
	// Notified when this many messages are settled.
	flushes []flush
}

type flush struct {
	upTo uint64
	done chan struct{}
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

// add copies a message into the queue.
func (q *queue) add(message []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed.Load() && q.isFull(len(message)) {
		if !q.blocks {
			return ErrQueueFull
		}
		// Fewer messages than flushAt may be queued: the limit in bytes can be reached first.
		q.flushTo = q.added
		q.wakeSender()
		q.capacity.Wait()
	}
	if q.closed.Load() {
		return ErrClosed
	}
	last := q.lastFor(message)
	last.add(message)
	q.added++
	q.heldBytes += len(message)
	if len(last.ends) == q.flushAt {
		q.wakeSender()
	}
	return nil
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
	added := &batch{body: []byte(batchHead)}
	if n := len(q.spare); n > 0 {
		added, q.spare = q.spare[n-1], q.spare[:n-1]
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

// next returns the first batch when it is due, or nil. The sender settles it before it gets another.
func (q *queue) next() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil
	}
	first := q.waiting[0]
	if len(q.waiting) == 1 && len(first.ends) < q.flushAt && q.settled >= q.flushTo {
		return nil
	}
	n := copy(q.waiting, q.waiting[1:])
	q.waiting[n] = nil
	q.waiting = q.waiting[:n]
	return first
}

// settle recycles a batch that was sent or reported, and frees its capacity.
func (q *queue) settle(b *batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.settled += uint64(len(b.ends))
	q.heldBytes -= b.messageBytes()
	b.body, b.ends = b.body[:len(batchHead)], b.ends[:0]
	if len(q.spare) < 2 {
		q.spare = append(q.spare, b)
	}
	q.capacity.Broadcast()
	pending := q.flushes[:0]
	for _, flush := range q.flushes {
		if q.settled >= flush.upTo {
			close(flush.done)
		} else {
			pending = append(pending, flush)
		}
	}
	q.flushes = pending
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
	q.flushes = append(q.flushes, flush{upTo: q.added, done: done})
	q.wakeSender()
	return done, q.closed.Load()
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

// held is the number of messages that are queued or in flight.
func (q *queue) held() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return int(q.added - q.settled)
}
