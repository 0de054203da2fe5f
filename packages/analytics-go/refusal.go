package analytics

import "time"

// A batchState is the state of a batch that the service answers with a 5xx without Retry-After: it may be down, or fail for
// one of the messages. Which of them is true shows in requests with other messages. The same in TypeScript: refusal.ts.
//
//	waiting ─► sending ─► (taken)
//	   ▲          │
//	   ├──────────┤ failures before the patience
//	   │          ├─► split: its first message alone, and then halves, in order ─► waiting
//	   │          ├─► probing: a single message still fails, so one behind it is tried ─► waiting
//	   │          └─► aside: a single message failed directly after another request was taken ─► (taken)
//	   └─ a later success sends the rest                                        ▲  └──► insisting ─┬─► (taken)
//	                                                                            └──────────────────┴─► reported
//
// While no request is taken, nothing is set aside, and the batch waits in its place. A service may also fail for every second
// request, or for nine of ten, whatever they have. This shows in a request that is taken after it was refused.
type batchState string

const (
	waiting   batchState = "waiting"
	split     batchState = "split"
	probing   batchState = "probing"
	aside     batchState = "aside"
	insisting batchState = "insisting"
	reported  batchState = "reported"
)

const (
	// The failure in a row from which on the service may fail for one of the messages, where nothing else is
	// known.
	suspicious = 3
	// After so many failures in a row the service is down, or fails for what it was sent.
	mostInARow     = 12
	mostInARowTime = 10 * time.Second
	// The refusal of a message aside after which it is sent several times in a row, as it is before it is reported.
	insistingRefusal = 3
	// A message aside is reported after this many refusals, and not before this time.
	mostRefusals = 20
	leastAside   = 15 * time.Minute
)

// A refusal is an answer of 5xx without Retry-After to a batch that is sent in its order.
type refusal struct {
	messages int
	// Failed requests in a row, with this one.
	failures int
	patience int
	// Whether it is a part of a batch that was split, or waited for a probe.
	isSplit bool
	// Whether the request before this one was taken.
	afterTaken bool
	// Whether another message may be set aside.
	hasRoom bool
}

func (r refusal) nextState() batchState {
	switch {
	case r.messages > 1 && (r.isSplit || r.failures >= r.patience):
		return split
	case r.messages > 1:
		return waiting
	case r.isSplit && r.afterTaken && r.hasRoom:
		return aside
	case r.failures >= r.patience:
		return probing
	}
	return waiting
}

// A refusalAside is an answer of 5xx without Retry-After to a message aside.
type refusalAside struct {
	// Refusals alone, with another request taken before each, and the time aside.
	refusals int
	since    time.Duration
	// Refusals in a row without another request in between, and the time that they took.
	inARow     int
	inARowTime time.Duration
	// Whether the first of them is one of the refusals.
	isCounted bool
}

func (r refusalAside) nextState(least time.Duration) batchState {
	isLast := r.refusals >= mostRefusals && r.since >= least
	insists := isLast || r.isCounted && r.refusals == insistingRefusal
	switch {
	case insists && r.inARow < mostInARow && r.inARowTime < mostInARowTime:
		return insisting
	case isLast:
		return reported
	}
	return aside
}

// patienceAfter is the patience after a request was taken that had failed in a row before: more failures than these are
// suspicious.
func patienceAfter(failures, patience int) int {
	if failures < mostInARow {
		return max(patience, failures+1)
	}
	return patience
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
