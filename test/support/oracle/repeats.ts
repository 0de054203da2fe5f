/**
 * Explains why a delivery arrived more than once. At-least-once delivery repeats deliveries that were unfinished or not
 * committed when their partition was revoked, and those whose answer was lost. Any other repeat shows a defect. All times
 * are milliseconds since the epoch.
 */

/** A receiver on a busy machine may see a request after its sender has counted the answer. Shorter than any retry delay. */
export const busyReceiverMs = 250;

/** The record that is read again, and the follow-up record that was already written. */
const copiesPerDisruption = 2;

/** The known facts of one delivery. */
export interface Trail {
  /** Its name, for messages. */
  readonly delivery: string;
  readonly partition: number;
  /** Records of it in `deliveries`, and those in retry topics that may be repeated: more than one where a publisher repeated a request. */
  readonly written: number;
  /** When requests arrived that the receiver answered with 2xx. */
  readonly delivered: readonly number[];
  /** When it became a dead letter. */
  readonly died: readonly number[];
  /** When it was requested, answered or written to a tier. */
  readonly traces: readonly number[];
  /** As logged by the service. Lines of the last tenth of a second before a kill are missing. */
  readonly attempts: readonly LoggedAttempt[];
}

export interface LoggedAttempt {
  readonly from: number;
  readonly until: number;
  readonly succeeded: boolean;
  /** The sender gave up waiting. The receiver may read the request at any time after that. */
  readonly timedOut: boolean;
}

/** From `from` on, the owner of the partitions could not commit; at `until` they were revoked. */
export interface Disruption {
  readonly kind: 'killed' | 'moved' | 'cut off';
  readonly partitions: ReadonlySet<number>;
  readonly from: number;
  readonly until: number;
}

export type Cause = Disruption['kind'] | 'lost answer' | 'written twice';

export interface Explanation {
  /** Repeats by their cause. */
  readonly causes: Readonly<Record<Cause, number>>;
  /** A sentence for each repeat without a cause. */
  readonly unexplained: readonly string[];
  /** The longest time between a repeated delivery being seen last and its disruption. */
  readonly oldestMs: number;
}

/** @param withinMs how long before a disruption a delivery may have been seen for the disruption to explain its repeat */
export function explainRepeats(
  trails: Iterable<Trail>,
  disruptions: readonly Disruption[],
  withinMs: number,
): Explanation {
  const causes: Record<Cause, number> = {
    killed: 0,
    moved: 0,
    'cut off': 0,
    'lost answer': 0,
    'written twice': 0,
  };
  const unexplained: string[] = [];
  let oldestMs = 0;
  for (const trail of trails) {
    let writtenAgain = trail.written - 1;
    const explained = new Map<Disruption, number>();
    const repeats = arrivalsOf(trail).slice(1);
    let lostAnswers = repeats.length > 0 ? lostAnswersOf(trail) : 0;
    for (const arrival of repeats) {
      const unused = disruptions.filter((one) => (explained.get(one) ?? 0) < copiesPerDisruption);
      const found = closest(trail, arrival, unused, withinMs);
      if (found && found.beforeMs <= withinMs) {
        const { disruption } = found;
        explained.set(disruption, (explained.get(disruption) ?? 0) + 1);
        causes[disruption.kind] += 1;
        oldestMs = Math.max(oldestMs, found.beforeMs);
      } else if (writtenAgain > 0) {
        writtenAgain -= 1;
        causes['written twice'] += 1;
      } else if (lostAnswers > 0) {
        lostAnswers -= 1;
        causes['lost answer'] += 1;
      } else {
        unexplained.push(describe(trail, found));
      }
    }
  }
  return { causes, unexplained, oldestMs };
}

function arrivalsOf({ delivered, died }: Trail): number[] {
  return [...delivered, ...died].sort((a, b) => a - b);
}

/** Successes that the service counted as failures, that were part of one attempt with another, or that it no longer waited for. */
function lostAnswersOf({ delivered, attempts }: Trail): number {
  // Consecutive owners of a partition may have attempts in flight at the same time.
  const attemptOf = (askedAt: number): LoggedAttempt | undefined =>
    attempts
      .toSorted((a, b) => a.from - b.from)
      .findLast(({ from, until }) => from <= askedAt && askedAt <= until + busyReceiverMs);
  const answered = Map.groupBy(delivered, attemptOf);
  let lost = 0;
  for (const [attempt, during] of answered) {
    if (attempt) lost += attempt.succeeded ? during.length - 1 : during.length;
  }
  const givenUp = attempts.filter((attempt) => attempt.timedOut && !answered.has(attempt));
  const late = answered.get(undefined)?.filter((at) => givenUp.some(({ until }) => until < at)) ?? [];
  return lost + Math.min(late.length, givenUp.length);
}

interface Found {
  readonly disruption: Disruption;
  /** 0 if it was seen during the disruption. */
  readonly beforeMs: number;
}

/** The disruption before the repeat that is closest to when the delivery was seen. */
function closest(
  { partition, traces, delivered, attempts }: Trail,
  repeatedAt: number,
  disruptions: readonly Disruption[],
  withinMs: number,
): Found | undefined {
  const unlogged = delivered.filter((at) => !attempts.some(({ from, until }) => from <= at && at <= until));
  let best: Found | undefined;
  for (const disruption of disruptions) {
    if (!disruption.partitions.has(partition) || disruption.from > repeatedAt) continue;
    // A receiver sees a request a moment after it was sent; on a busy machine long after its sender was killed.
    const wasSentBefore = (at: number): boolean =>
      at <= disruption.until + withinMs || (disruption.kind === 'killed' && unlogged.includes(at));
    const seen = traces.filter((at) => at < repeatedAt && wasSentBefore(at));
    if (seen.length === 0) continue;
    const beforeMs = Math.max(0, disruption.from - Math.max(...seen));
    if (!best || beforeMs < best.beforeMs) best = { disruption, beforeMs };
  }
  return best;
}

function describe(trail: Trail, found?: Found): string {
  const { delivery, partition, traces } = trail;
  const why = found
    ? `last seen ${found.beforeMs} ms before its partition ${partition} was ${found.disruption.kind}`
    : `nothing had happened to its partition ${partition}`;
  return `${delivery} arrived at ${times(arrivalsOf(trail))} and was seen at ${times(traces)}: ${why}`;
}

function times(list: readonly number[]): string {
  return list.map((at) => new Date(at).toISOString().slice(11, 23)).join(' ');
}
