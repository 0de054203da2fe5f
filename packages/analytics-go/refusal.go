package analytics

import "time"

// A batchState is the state of a batch that the service answers with a 5xx without Retry-After: it may be down, or fail for
// one of the messages. Which of them is true shows in requests with other messages. The same in TypeScript: refusal.ts.
//
//	waiting ─► sending ─► (taken)
//	   ▲          │
//	   ├──────────┤ the first two failures
//	   │          ├─► split: its first message alone, and then halves, in order ─► waiting
//	   │          ├─► probing: a single message still fails, so one behind it is tried ─► waiting
//	   │          └─► aside: a single message failed directly after another request was taken ─► (taken)
//	   └─ a later success sends the rest                                                 └──► reported
//
// While no request is taken, nothing is set aside, and the batch waits in its place.
type batchState string

const (
	waiting  batchState = "waiting"
	split    batchState = "split"
	probing  batchState = "probing"
	aside    batchState = "aside"
	reported batchState = "reported"
)

const (
	// The failure in a row from which on the service may fail for one of the messages.
	suspicious = 3
	// A message aside is reported after this many refusals, and not before this time.
	mostRefusals = 20
	leastAside   = 15 * time.Minute
)

// A refusal is an answer of 5xx without Retry-After to a batch that is sent in its order.
type refusal struct {
	messages int
	// Failed requests in a row, with this one.
	failures int
	// Whether it is a part of a batch that was split, or waited for a probe.
	isSplit bool
	// Whether the request before this one was taken.
	afterTaken bool
	// Whether another message may be set aside.
	hasRoom bool
}

func (r refusal) nextState() batchState {
	switch {
	case r.messages > 1 && (r.isSplit || r.failures >= suspicious):
		return split
	case r.messages > 1:
		return waiting
	case r.isSplit && r.afterTaken && r.hasRoom:
		return aside
	case r.failures >= suspicious:
		return probing
	}
	return waiting
}

// asideState is the state of a message aside for this time, with its refusals alone before each of which another request was
// taken.
func asideState(refusals int, since, least time.Duration) batchState {
	if refusals >= mostRefusals && since >= least {
		return reported
	}
	return aside
}

// nextPlaces is how far behind the next probe is after a failed one: 1, 2, 3, 5, 8, 12 … places, for several such messages in
// a row.
func nextPlaces(places int) int { return places + (places+1)/2 }

// firstPart is the size of the first part of a split batch. A single message is a probe that keeps the order.
func firstPart(messages, failures int) int {
	if failures >= suspicious {
		return 1
	}
	return messages / 2
}
