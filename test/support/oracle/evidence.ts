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
  const line = log.findLast(isOnCommits);
  return line && lateBy(line);
}

function isOnCommits({ msg }: LogLine): boolean {
  return String(msg).startsWith('commits are ');
}

function lateBy(line: LogLine): number | undefined {
  return line.msg === 'commits are accepted again' ? undefined : timeOf(line) - Number(line['uncommittedMs']);
}

/** Kafka removes a member that it has not heard of for so long. */
const sessionMs = 10_000;

/**
 * When partitions of `topic` were revoked from replicas, by their logs: some because another replica got them, or all because one joined
 * as a new member. While a replica rejoins, it can commit nothing and starts nothing, but what was in flight may end. Of one that
 * did not run for a while, and that Kafka removed meanwhile, the next owner logs it first. Then its last commit may be a session ago.
 */
export function movesIn(logs: readonly (readonly LogLine[])[], topic: string): Disruption[] {
  const histories = logs.map((log) => ownershipIn(log, topic));
  return histories.flatMap((history) =>
    history.flatMap(({ began, at: until, revoked }, nth): Disruption[] => {
      if (revoked.length === 0) return [];
      const unnoticed = revoked.flatMap((partition): Disruption[] => {
        const ownedFrom =
          history.slice(0, nth).findLast(({ gained }) => gained.includes(partition))?.at ?? NaN;
        const next = histories
          .filter((other) => other !== history)
          .flatMap((other) =>
            other.filter(({ at, gained }) => gained.includes(partition) && at > ownedFrom && at < began),
          )[0];
        const partitions = new Set([partition]);
        return next ? [{ kind: 'moved', partitions, from: next.began - sessionMs, until: next.at }] : [];
      });
      return [{ kind: 'moved', partitions: new Set(revoked), from: began, until }, ...unnoticed];
    }),
  );
}

/** A rebalance, as a replica logged it. */
interface Rebalance {
  /** Since when it could not commit. */
  readonly began: number;
  /** When it had joined. */
  readonly at: number;
  /** Partitions of one topic. */
  readonly gained: readonly number[];
  readonly revoked: readonly number[];
}

function ownershipIn(log: readonly LogLine[], topic: string): Rebalance[] {
  const rebalances: Rebalance[] = [];
  let owned: readonly number[] = [];
  let rejoinsFrom: number | undefined;
  let late: number | undefined;
  for (const line of log) {
    if (isOnCommits(line)) late = lateBy(line);
    if (line.msg === 'The group is rebalancing, re-joining') rejoinsFrom ??= timeOf(line);
    if (!isJoin(line)) continue;
    const assigned = line.assignment[topic] ?? [];
    const isNewMember = line.fresh === Object.values(line.assignment).flat().length;
    const kept = isNewMember ? [] : owned.filter((partition) => assigned.includes(partition));
    rebalances.push({
      began: late ?? rejoinsFrom ?? timeOf(line),
      at: timeOf(line),
      gained: assigned.filter((partition) => !kept.includes(partition)),
      revoked: owned.filter((partition) => !kept.includes(partition)),
    });
    owned = assigned;
    rejoinsFrom = undefined;
  }
  return rebalances;
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
