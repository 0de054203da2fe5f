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

// A batch is the body of a request, up to its last message. What follows differs from attempt to attempt.
type batch struct {
	body []byte
	// Where each message ends in body.
	ends []int
}

func (b *batch) add(message []byte) {
	if len(b.ends) > 0 {
		b.body = append(b.body, ',')
	}
	b.body = append(b.body, message...)
	b.ends = append(b.ends, len(b.body))
}

// messageBytes is how many bytes the messages have, without what stands between them.
func (b *batch) messageBytes() int {
	count := len(b.ends)
	return b.ends[count-1] - len(batchHead) - (count - 1)
}

// message copies one message out of the batch, whose memory will be used again.
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

// A queue holds batches in the order of the calls. Callers write into the last one while the sender has the first one; when the
// sender is slower than they are, the last one grows, up to the limits of a request, so that a busy client sends fewer and larger
// requests in place of more.
type queue struct {
	flushAt     int
	size        int
	bytes       int
	blocks      bool
	batchBytes  int
	batchLength int

	// Has room for one: a second wake before the first was noticed says nothing new.
	wake chan struct{}

	mu sync.Mutex
	// Not yet taken by the sender.
	waiting []*batch
	// Emptied batches, for their memory.
	spare []*batch
	// Messages added and settled since the beginning. The difference waits or is under way.
	added, settled uint64
	// Bytes of the messages that wait or are under way.
	heldBytes int
	// The sender need not wait for more until so many messages are settled.
	flushTo uint64
	// Set while mu is held; read without it by calls that can save themselves the work.
	closed atomic.Bool
	// Signals that a message was settled, or that the queue was closed, to callers that wait for room.
	room *sync.Cond
	// Told when so many are settled.
	flushes []flush
}

type flush struct {
	upTo uint64
	done chan struct{}
}

// newQueue makes a queue for so many messages and bytes, whose batches leave `reserved` bytes of a request for what surrounds the
// messages.
func newQueue(flushAt, size, bytes int, blocks bool, reserved int) *queue {
	q := &queue{size: size, bytes: bytes, blocks: blocks, wake: make(chan struct{}, 1)}
	q.batchBytes = maxBatchBytes - reserved
	q.flushAt = min(flushAt, size, maxBatchMessages)
	q.batchLength = maxBatchMessages
	if q.flushAt == 1 {
		q.batchLength = 1
	}
	q.room = sync.NewCond(&q.mu)
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
		// What waits may be fewer than flushAt: bytes are full before messages.
		q.flushTo = q.added
		q.wakeSender()
		q.room.Wait()
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

// lastFor is the batch that the message goes into: the last one, or a new one.
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

// take hands the first batch to the sender once it should be sent, else nil. The sender settles it before it takes another.
func (q *queue) take() *batch {
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

// settle takes a batch back, that was sent or reported, and makes room for as many messages.
func (q *queue) settle(b *batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.settled += uint64(len(b.ends))
	q.heldBytes -= b.messageBytes()
	b.body, b.ends = b.body[:len(batchHead)], b.ends[:0]
	if len(q.spare) < 2 {
		q.spare = append(q.spare, b)
	}
	q.room.Broadcast()
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

// flush lets the sender take all that was added until now, and returns what is closed when it is settled.
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

// release lets the sender take all that was added until now.
func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flushTo = q.added
}

// close refuses further messages and lets the sender take all there are.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed.Store(true)
	q.flushTo = q.added
	q.room.Broadcast()
	q.wakeSender()
}

// finished tells that nothing waits and nothing more will come.
func (q *queue) finished() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed.Load() && len(q.waiting) == 0
}

// held is how many messages wait or are under way.
func (q *queue) held() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return int(q.added - q.settled)
}
