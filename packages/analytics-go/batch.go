package analytics

import (
	"encoding/json"
	"time"
)

// Limits of the service for one request. The service accepts every batch within them
// (docs/specification.md, rules 2.1 to 2.4).
const (
	maxBatchBytes    = 500 * 1024
	maxBatchMessages = 2500
)

// A batch is the messages of one or more requests, as JSON, separated by commas.
type batch struct {
	body []byte
	// The end of each message in body.
	ends []int
	// When the call of each message was made, since the start of the process.
	calledAt []time.Duration
	// The place of the first message among all of the client. The others follow it.
	first uint64
	// The number of each message in the files of the queue, if there are any.
	stored []uint64
}

var processStart = time.Now()

// sinceStart is a time of the monotonic clock, which is never set.
func sinceStart(at time.Time) time.Duration { return at.Sub(processStart) }

// newBatch has memory for this many bytes and messages.
func newBatch(bytes, messages int) *batch {
	return &batch{body: make([]byte, 0, bytes), ends: make([]int, 0, messages), calledAt: make([]time.Duration, 0, messages)}
}

// A part is the messages of a batch from an index up to, not including, another. A request has the messages of one part.
type part struct{ from, to int }

func (p part) size() int { return p.to - p.from }

func (b *batch) add(message []byte, calledAt time.Duration) {
	if len(b.ends) > 0 {
		b.body = append(b.body, ',')
	}
	b.body = append(b.body, message...)
	b.ends = append(b.ends, len(b.body))
	b.calledAt = append(b.calledAt, calledAt)
}

func (b *batch) reset() {
	b.body, b.ends, b.calledAt, b.stored = b.body[:0], b.ends[:0], b.calledAt[:0], b.stored[:0]
}

// alone returns a batch of its own for one message.
func (b *batch) alone(i int) *batch {
	alone := newBatch(len(b.text(part{i, i + 1})), 1)
	alone.add(b.text(part{i, i + 1}), b.calledAt[i])
	alone.first = b.first + uint64(i)
	if len(b.stored) > 0 {
		alone.stored = []uint64{b.stored[i]}
	}
	return alone
}

// olderThan returns the index of the first message from `from` on that is not older than age.
func (b *batch) olderThan(age time.Duration, from int) int {
	limit := sinceStart(time.Now()) - age
	for from < len(b.calledAt) && b.calledAt[from] < limit {
		from++
	}
	return from
}

func (b *batch) start(i int) int {
	if i == 0 {
		return 0
	}
	return b.ends[i-1] + 1
}

// text is the messages of a part, with the commas between them.
func (b *batch) text(p part) []byte { return b.body[b.start(p.from):b.ends[p.to-1]] }

// messageBytes is the size of the messages of a part, without the commas.
func (b *batch) messageBytes(p part) int { return len(b.text(p)) - (p.size() - 1) }

// message copies one message out of the batch, because the memory of the batch is reused.
func (b *batch) message(i int) json.RawMessage {
	return append(json.RawMessage(nil), b.text(part{i, i + 1})...)
}

func (b *batch) messages(p part) []json.RawMessage {
	all := make([]json.RawMessage, 0, p.size())
	for i := p.from; i < p.to; i++ {
		all = append(all, b.message(i))
	}
	return all
}
