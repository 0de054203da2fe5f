/**
 * Evaluates the topics, the receivers and the logs of the replicas after a fault test: the trail of each delivery, and
 * when partitions were revoked from their owners.
 */
import type { ConsumedRecord } from '@tailrace/kafka';
import type { AttemptRecord } from '@tailrace/records';
import { owedTo, type Entry } from './ledger.ts';
import type { LogLine } from '../processes/process.ts';
import type { Disruption, LoggedAttempt, Trail } from './repeats.ts';
import { headerOf } from '../kafka/topics.ts';

export interface Evidence {
  /** Entries of the receivers and the dead letters. */
  readonly entries: readonly Entry[];
  /** All records of `deliveries`. */
  readonly written: readonly ConsumedRecord[];
  /** All records of the retry topics. */
  readonly copies: readonly ConsumedRecord[];
  /** The log of each replica. */
  readonly logs: readonly (readonly LogLine[])[];
}

/** The trail of each delivery that is in `deliveries`. */
export function trailsOf({ entries, written, copies, logs }: Evidence): Trail[] {
  const seen = Map.groupBy(entries, owedTo);
  const copied = Map.groupBy(copies, deliveryOf);
  const attempted = Map.groupBy(logs.flat().filter(isAttempt), owedTo);
  return [...Map.groupBy(written, deliveryOf)].map(([delivery, records]) => {
    const its = seen.get(delivery) ?? [];
    const copies = copied.get(delivery) ?? [];
    const askedAt = (kind: Entry['what']): number[] =>
      its.filter(({ what }) => what === kind).map((entry) => entry.askedAt);
    return {
      delivery,
      partition: records[0]?.partition ?? NaN,
      written: records.length + writtenAgain(copies),
      delivered: askedAt('delivered'),
      died: askedAt('dead'),
      traces: [...its.map(({ at }) => at), ...copies.map(({ timestamp }) => timestamp)],
      attempts: (attempted.get(delivery) ?? []).map(spanOf),
    };
  });
}

/**
 * At most so many records of retry topics were written twice, because the answer to the first request was lost. After a
 * process was killed, the next owner may read both a delivery and its copy, and defer both until the same time. These
 * count here too, so a repeat is explained by the kill first.
 */
function writtenAgain(copies: readonly ConsumedRecord[]): number {
  const distinct = new Set(
    copies.map((copy) => [copy.topic, headerOf(copy, 'attempt'), headerOf(copy, 'due-at')].join(' ')),
  );
  return copies.length - distinct.size;
}

/** Since when the replica has not been able to commit, according to its log; undefined where it is. */
export function lateSince(log: readonly LogLine[]): number | undefined {
  const line = log.findLast(({ msg }) => String(msg).startsWith('commits are '));
  const isLate = line !== undefined && line.msg !== 'commits are accepted again';
  return isLate ? timeOf(line) - Number(line['uncommittedMs']) : undefined;
}

/**
 * When partitions of `topic` were revoked from the replica: some because another replica got them, or all because it
 * joined as a new member. While it rejoins, it can commit nothing and starts nothing, so the start of the rebalance counts.
 */
export function movesIn(log: readonly LogLine[], topic: string): Disruption[] {
  const moves: Disruption[] = [];
  let owned: readonly number[] = [];
  let rejoinsFrom: number | undefined;
  for (const [nth, line] of log.entries()) {
    if (line.msg === 'The group is rebalancing, re-joining') rejoinsFrom ??= timeOf(line);
    if (!isJoin(line)) continue;
    const began = lateSince(log.slice(0, nth)) ?? rejoinsFrom ?? timeOf(line);
    const assigned = line.assignment[topic] ?? [];
    const isNewMember = line.fresh === Object.values(line.assignment).flat().length;
    const revoked = new Set(isNewMember ? owned : owned.filter((partition) => !assigned.includes(partition)));
    if (revoked.size > 0) moves.push({ kind: 'moved', partitions: revoked, from: began, until: began });
    owned = assigned;
    rejoinsFrom = undefined;
  }
  return moves;
}

/** The partitions of `topic` that the replica has owned at any time. */
export function partitionsIn(log: readonly LogLine[], topic: string): Set<number> {
  return new Set(log.filter(isJoin).flatMap(({ assignment }) => assignment[topic] ?? []));
}

/** The partitions of `topic` that the replica owns, according to its log. */
export function presentPartitionsIn(log: readonly LogLine[], topic: string): readonly number[] {
  return log.findLast(isJoin)?.assignment[topic] ?? [];
}

/** When the replica first joined its group after `since`. */
export function joinedAfter(log: readonly LogLine[], since: number): number | undefined {
  return log
    .filter(isJoin)
    .map(timeOf)
    .find((at) => at > since);
}

type JoinLine = LogLine & {
  readonly assignment: Readonly<Record<string, readonly number[]>>;
  /** Number of partitions, of all topics, that this member did not own before. */
  readonly fresh: number;
};

function isJoin(line: LogLine): line is JoinLine {
  return line.msg === 'joined the consumer group';
}

function timeOf(line: LogLine): number {
  return Date.parse(String(line['time']));
}

function isAttempt(line: LogLine): line is LogLine & AttemptRecord {
  return line.msg === 'attempt';
}

function spanOf({ startedAt, latencyMs, outcome, urls }: AttemptRecord): LoggedAttempt {
  const from = Date.parse(startedAt);
  const timedOut = urls.some(({ reason }) => reason === 'timeout');
  return { from, until: from + latencyMs, succeeded: outcome === 'delivered', timedOut };
}

function deliveryOf(record: ConsumedRecord): string {
  const [eventId, destinationId] = ['event-id', 'destination-id'].map((name) => headerOf(record, name) ?? '');
  return owedTo({ eventId: eventId ?? '', destinationId: destinationId ?? '' });
}
