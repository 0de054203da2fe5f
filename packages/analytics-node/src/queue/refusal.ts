/**
 * The states of a batch that the server answers with a 5xx without `Retry-After`: it may be down, or fail for one of
 * the calls. Which of them is true shows in requests with other calls. The same in Go: refusal.go.
 *
 *     waiting ─► sending ─► (taken)
 *        ▲          │
 *        ├──────────┤ failures before `patience`
 *        │          ├─► split: its first call alone, and then halves, in order ─► waiting
 *        │          ├─► probing: a single call still fails, so one behind it is tried ─► waiting
 *        │          └─► aside: a single call failed directly after another request was taken ─► (taken)
 *        └─ a later success sends the rest                                     ▲  └──► insisting ─┬─► (taken)
 *                                                                              └──────────────────┴─► reported
 *
 * While no request is taken, nothing is set aside, and the batch waits in its place. A server may also fail for every
 * second request, or for nine of ten, whatever they have. This shows in a request that is taken after it was refused.
 */
export type BatchState = 'waiting' | 'split' | 'probing' | 'aside' | 'insisting' | 'reported';

export type Refused =
  | {
      readonly state: 'sending';
      readonly calls: number;
      /** Failed requests in a row, with this one. */
      readonly failures: number;
      readonly patience: number;
      /** Whether it is a part of a batch that was split, or waited for a probe. */
      readonly isSplit: boolean;
      /** Whether the request before this one was taken. */
      readonly afterTaken: boolean;
      /** Whether another call may be set aside. */
      readonly hasRoom: boolean;
    }
  | {
      readonly state: 'aside';
      /** Refusals alone, with another request taken before each. */
      readonly refusals: number;
      readonly forMs: number;
      /** Refusals in a row without another request in between, and the time that they took. */
      readonly inARow: number;
      readonly inARowMs: number;
      /** Whether the first of them is one of `refusals`. */
      readonly isCounted: boolean;
    };

/** The failure in a row from which on the server may fail for one of the calls, where nothing else is known. */
export const suspicious = 3;
/** After so many failures in a row the server is down, or fails for what it was sent. */
const mostInARow = 12;
const mostInARowMs = 10_000;
/** The refusal of a call aside after which it is sent several times in a row, as it is before it is reported. */
const insistingRefusal = 3;
/** A call aside is reported after this many refusals, and not before this time. */
const mostRefusals = 20;
const leastAsideMs = 15 * 60_000;

export function nextState(refused: Refused): BatchState {
  if (refused.state === 'aside') {
    const { refusals, forMs, inARow, inARowMs, isCounted } = refused;
    const isLast = refusals >= mostRefusals && forMs >= leastAsideMs;
    const insists = isLast || (isCounted && refusals === insistingRefusal);
    if (insists && inARow < mostInARow && inARowMs < mostInARowMs) return 'insisting';
    return isLast ? 'reported' : 'aside';
  }
  const { calls, failures, patience, isSplit, afterTaken, hasRoom } = refused;
  if (calls > 1) return isSplit || failures >= patience ? 'split' : 'waiting';
  if (isSplit && afterTaken && hasRoom) return 'aside';
  return failures >= patience ? 'probing' : 'waiting';
}

/** The patience after a request was taken that had failed in a row before: more failures than these are suspicious. */
export function patienceAfter(failures: number, patience: number): number {
  return failures < mostInARow ? Math.max(patience, failures + 1) : patience;
}

/** After a failed probe, the next one is further behind: 1, 2, 3, 5, 8, 12 … places, for several such calls in a row. */
export const nextPlaces = (places: number): number => places + Math.ceil(places / 2);

/** The calls of the first part of a split batch. A single call is a probe that keeps the order. */
export function firstPart(calls: number, failures: number): number {
  return failures >= suspicious ? 1 : Math.floor(calls / 2);
}
