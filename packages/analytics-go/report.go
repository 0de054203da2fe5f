package analytics

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// A reporter settles messages: it counts them, calls the program's callbacks, and frees their capacity. The sender's
// goroutine uses it; the counters are read by all.
type reporter struct {
	queue   *queue
	onError func(*SendError)
	onSent  func([]json.RawMessage)
	log     logs
	// Called when messages are settled; or nil.
	settled func(*batch, part)
	// Reports whether the next start will find the messages, if the client is closed before they are sent; or nil.
	keeps func() bool

	sentCount, failedCount, keptCount atomic.Uint64
	requests, retries                 atomic.Uint64
	// Changes when the goroutine enters or leaves a callback, or settles messages.
	progress atomic.Uint64
	// Whether messages were left when the deadline of Close passed.
	wasCut atomic.Bool
}

func (r *reporter) attempted(attempt int) {
	r.requests.Add(1)
	if attempt > 1 {
		r.retries.Add(1)
	}
}

// sent settles an accepted part, in which the service may have rejected some messages.
func (r *reporter) sent(b *batch, p part, answer result, attempts int) {
	r.log.debug("sent", "messages", p.size(), "rejected", len(answer.rejected))
	r.fail(b, p, answer, attempts)
	r.sentCount.Add(uint64(p.size() - len(answer.rejected)))
	if r.onSent != nil && len(answer.rejected) < p.size() {
		messages := withoutRejected(b, p, answer.rejected)
		r.guard("OnSent", func() { r.onSent(messages) })
	}
	r.settle(b, p)
}

func withoutRejected(b *batch, p part, rejected []rejection) []json.RawMessage {
	isRejected := make(map[int]bool, len(rejected))
	for _, one := range rejected {
		isRejected[p.from+one.index] = true
	}
	kept := make([]json.RawMessage, 0, p.size()-len(rejected))
	for i := p.from; i < p.to; i++ {
		if !isRejected[i] {
			kept = append(kept, b.message(i))
		}
	}
	return kept
}

// rejected settles a part of which the service rejected every message.
func (r *reporter) rejected(b *batch, p part, answer result, attempts int) {
	r.fail(b, p, answer, attempts)
	r.settle(b, p)
}

// fail reports the rejected messages, each with its reason.
func (r *reporter) fail(b *batch, p part, answer result, attempts int) {
	for _, one := range answer.rejected {
		r.callback(&SendError{
			Reason:   Rejected,
			Messages: []json.RawMessage{b.message(p.from + one.index)},
			Status:   answer.status,
			Attempts: attempts,
			Err:      errors.New(one.code + ": " + one.message),
		})
	}
}

// unsent reports and settles all messages of a part.
func (r *reporter) unsent(b *batch, p part, reason Reason, last result, attempts int) {
	if last.err == nil {
		last.err = errors.New("there was no time for an attempt")
	}
	r.callback(&SendError{Reason: reason, Messages: b.messages(p), Status: last.status, Attempts: attempts, Err: last.err})
	r.settle(b, p)
}

// closed reports the messages that are left when the deadline of Close has passed, or keeps them for the next start.
func (r *reporter) closed(b *batch, p part, last result, attempts int) {
	r.wasCut.Store(true)
	if r.keeps != nil && r.keeps() {
		r.keptCount.Add(uint64(p.size()))
		r.queue.settle(b, p)
		return
	}
	if attempts == 0 {
		last = result{}
	}
	r.unsent(b, p, ClosedEarly, last, attempts)
}

func (r *reporter) settle(b *batch, p part) {
	r.progress.Add(1)
	if r.settled != nil {
		r.settled(b, p)
	}
	r.queue.settle(b, p)
}

// damaged reports the end of a file of QueueDir that cannot be read. The number of its messages is not known.
func (r *reporter) damaged(damage error) {
	r.callback(&SendError{Reason: Damaged, Err: damage})
}

func (r *reporter) callback(err *SendError) {
	r.failedCount.Add(uint64(len(err.Messages)))
	if r.onError == nil {
		r.log.error(err)
		return
	}
	r.log.debug("not sent", "messages", len(err.Messages), "reason", err.Reason, "error", err.Err)
	r.guard("OnError", func() { r.onError(err) })
}

// guard calls a function of the program. A panic in it is logged, and nothing else stops.
func (r *reporter) guard(name string, call func()) {
	r.progress.Add(1)
	defer r.progress.Add(1)
	defer func() {
		if problem := recover(); problem != nil {
			r.log.warn("a callback panicked", "callback", name, "panic", fmt.Sprint(problem), "stack", string(debug.Stack()))
		}
	}()
	call()
}
