/** The result of a search, decided from its matches and from what could be searched. Pure. */
import type { FinishedOffsets } from '@tailrace/kafka';
import type { Match } from './match.ts';
import type { SearchedTopic } from './read-topic.ts';

/**
 * `not-found` only if everything in the period was read: nothing is reported as missing because it was not searched.
 * `accepted`: it is in `events`, and neither a delivery nor a decision was found. `decided`: a decision says why it has no
 * delivery.
 */
export type SearchOutcome = 'found' | 'decided' | 'accepted' | 'rejected' | 'not-found' | 'not-searched';

export interface DeliveryTrace {
  readonly deliveryId: string;
  readonly destinationId: string;
  /** In the order of time. */
  readonly steps: readonly Match[];
  /** `open`: no final outcome in the period. */
  readonly status: 'delivered' | 'dead' | 'open';
  /** Whether the delivery group has finished its last record that was found; null where Kafka does not say. */
  readonly finished: boolean | null;
}

/** A part of the period that was not read completely. */
export interface Gap {
  readonly topic: string;
  /** Null for the whole topic. */
  readonly partitions: readonly number[] | null;
  readonly reason: string;
}

export function outcomeOf(matches: readonly Match[], gaps: readonly Gap[]): SearchOutcome {
  const has = (...kinds: Match['kind'][]): boolean => matches.some(({ kind }) => kinds.includes(kind));
  if (has('delivery', 'replay', 'retry', 'dead', 'attempt')) return 'found';
  if (has('decision')) return 'decided';
  if (has('rejected')) return 'rejected';
  if (has('event', 'waiting')) return 'accepted';
  return gaps.length > 0 ? 'not-searched' : 'not-found';
}

export function gapsOf(topics: readonly SearchedTopic[]): Gap[] {
  return topics.flatMap(({ topic, partitions, partitionCount, retentionMs, problem }): Gap[] => {
    if (partitions.length === 0 && problem !== null) return [{ topic, partitions: null, reason: problem }];
    const inState = (state: string): number[] =>
      partitions.filter((searched) => searched.state === state).map(({ partition }) => partition);
    const read = new Set(partitions.map(({ partition }) => partition));
    const skipped = Array.from({ length: partitionCount }, (_, partition) => partition).filter(
      (partition) => !read.has(partition),
    );
    const days = retentionMs === null ? '' : ` (kept for ${Math.round(retentionMs / 8_640_000) / 10} days)`;
    return [
      { topic, partitions: inState('unread'), reason: problem ?? 'not read to its end' },
      { topic, partitions: inState('expired'), reason: `records of this period may have expired${days}` },
      { topic, partitions: skipped, reason: 'not expected there' },
    ].filter(({ partitions }) => partitions.length > 0);
  });
}

/** @param finished what the delivery group has finished; undefined where Kafka does not say */
export function deliveriesOf(matches: readonly Match[], finished?: FinishedOffsets): DeliveryTrace[] {
  const steps = matches.filter((match) => 'deliveryId' in match);
  return [...Map.groupBy(steps, ({ deliveryId }) => deliveryId)].map(([deliveryId, own]) => {
    const sorted = own.toSorted((a, b) => a.at.localeCompare(b.at));
    // After a replay, a delivery that was dead may be delivered.
    const last = sorted.findLast(
      (step) =>
        step.kind === 'dead' ||
        step.kind === 'replay' ||
        (step.kind === 'attempt' && step.outcome !== 'retry'),
    );
    const delivered = last?.kind === 'attempt' && last.outcome === 'delivered';
    const dead = last?.kind === 'dead' || (last?.kind === 'attempt' && last.outcome === 'dead');
    return {
      deliveryId,
      destinationId: sorted[0]?.destinationId ?? '',
      steps: sorted,
      status: delivered ? 'delivered' : dead ? 'dead' : 'open',
      finished: finished ? isFinished(sorted, finished) : null,
    };
  });
}

/** Of `deliveries`, a retry topic or `deliveries.replay`, which the group reads. */
export function isConsumed({ kind }: Match): boolean {
  return kind === 'delivery' || kind === 'retry' || kind === 'replay';
}

function isFinished(steps: readonly Match[], finished: FinishedOffsets): boolean {
  const last = steps.findLast(isConsumed);
  if (!last) return false;
  const ranges = finished.get(last.topic)?.get(last.partition) ?? [];
  return ranges.some(({ from, to }) => last.offset >= from && last.offset < to);
}
