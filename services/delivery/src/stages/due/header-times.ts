/**
 * Corrects times in headers. Another process wrote them, and its clock, or the clock of this process, may be wrong. Each
 * time is accepted only as far as it is possible:
 *
 * - `due-at`: in a retry topic no record waits longer than the topic's delay, counted from when the record is known to
 *   exist. A record without it is due. In other topics it is ignored.
 * - `first-attempt-at`: a time in the future is replaced by one that lies as long before now as it lay before the record
 *   was written, so that the retry window ends. A time in the past is accepted however old: a wrong clock cannot be
 *   distinguished from a long outage, and no attempt may be made after the window.
 * - `place-at`: no turn is promised further ahead than the retry window.
 * - `accepted-at`: measured only. Replays and records of earlier releases have no such header. Their age counts from when the
 *   record was written, or from the first attempt if that was earlier.
 */
import type { ConsumedRecord, Work } from '@tailrace/kafka';
import { decodeDelivery, type Delivery } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import { detach } from '../../delivery.ts';

export interface TimeBounds {
  readonly now: number;
  /** The delay of the record's retry topic; undefined for records of other topics. */
  readonly tierMs: number | undefined;
  readonly windowMs: number;
  /** Since when a record with an impossible due time is known to exist. */
  readonly existedAt?: () => number;
}

/** Returns `delivery` with possible times. `writtenAt` is the record's timestamp. */
export function plausibleTimes(delivery: Delivery, writtenAt: number, bounds: TimeBounds): Delivery {
  const { now, tierMs, windowMs, existedAt = () => now } = bounds;
  const { dueAt, firstAttemptAt, placeAt } = delivery;
  let times: Pick<Delivery, 'dueAt' | 'firstAttemptAt' | 'placeAt'> | undefined;
  if (tierMs === undefined) {
    if (dueAt !== undefined) times = { ...times, dueAt: undefined };
  } else if (dueAt === undefined) times = { ...times, dueAt: now };
  else if (dueAt > now + tierMs) times = { ...times, dueAt: existedAt() + tierMs };
  if (firstAttemptAt !== undefined && firstAttemptAt > now) {
    const agoMs = Math.min(Math.max(0, writtenAt - firstAttemptAt), windowMs);
    times = { ...times, firstAttemptAt: now - agoMs };
  }
  if (placeAt !== undefined && placeAt > now + windowMs) times = { ...times, placeAt: now + windowMs };
  return times ? { ...delivery, ...times } : delivery;
}

/** Longer than `events` and `deliveries` together keep a record. An older time comes from a wrong clock. */
const longestAgeMs = 30 * 86_400_000;

/** Returns `delivery` with a possible time of acceptance. `writtenAt` is the record's timestamp. */
export function withAcceptance(delivery: Delivery, writtenAt: number, now: number): Delivery {
  const isPossible = (time: number): boolean => time <= now && time > now - longestAgeMs;
  const { acceptedAt, firstAttemptAt = writtenAt } = delivery;
  if (acceptedAt !== undefined && isPossible(acceptedAt)) return delivery;
  return { ...delivery, acceptedAt: [Math.min(writtenAt, firstAttemptAt), writtenAt, now].find(isPossible) };
}

export interface HeaderTimesDependencies {
  readonly names: Pick<TopicNames, 'retryTierDelayMs'>;
  readonly windowMs: number;
  /** Its partitions: their ends; undefined for those that are not owned. */
  readonly group: { partition(topic: string, partition: number): { readonly end: number } | undefined };
  readonly now: () => number;
}

type Place = Pick<Work, 'topic' | 'partition' | 'offset' | 'timestamp'>;

export class HeaderTimes {
  readonly #deps: HeaderTimesDependencies;
  readonly #tiersMs = new Map<string, number | undefined>();
  /** For partitions with an impossible due time: an end offset, and when it was read. Records below it existed then. */
  readonly #ends = new Map<string, { readonly end: number; readonly at: number }>();

  constructor(dependencies: HeaderTimesDependencies) {
    this.#deps = dependencies;
  }

  /** Decodes a record, with possible times. Returns the problem where it is not a delivery. */
  read(record: Pick<ConsumedRecord, 'key' | 'value' | 'headers' | 'headerList'> & Place): Delivery | string {
    const delivery = decodeDelivery(record);
    return typeof delivery === 'string' ? delivery : this.correct(detach(delivery), record);
  }

  /** Returns the delivery of a received record with possible times. */
  correct(delivery: Delivery, record: Place): Delivery {
    const { windowMs } = this.#deps;
    const [now, tierMs] = [this.#deps.now(), this.#tierMs(record.topic)];
    const existedAt = (): number => this.#existedAt(record, now);
    const times = plausibleTimes(delivery, record.timestamp, { now, tierMs, windowMs, existedAt });
    return withAcceptance(times, record.timestamp, now);
  }

  /** Returns when a record that waits in a retry topic is expected, in milliseconds since the epoch. */
  until(delivery: Delivery, { topic, timestamp }: Pick<Place, 'topic' | 'timestamp'>): number {
    const bounds = { now: this.#deps.now(), tierMs: this.#tierMs(topic), windowMs: this.#deps.windowMs };
    const { dueAt = 0, placeAt = 0 } = plausibleTimes(delivery, timestamp, bounds);
    return Math.max(dueAt, placeAt);
  }

  #tierMs(topic: string): number | undefined {
    if (!this.#tiersMs.has(topic)) this.#tiersMs.set(topic, this.#deps.names.retryTierDelayMs(topic));
    return this.#tiersMs.get(topic);
  }

  /**
   * Returns since when the record is known to exist. Without this, a million records of a fast clock would each wait the
   * whole delay of their retry topic, one after another in batches of what is read ahead.
   */
  #existedAt({ topic, partition, offset }: Place, now: number): number {
    const key = `${topic}/${partition}`;
    let known = this.#ends.get(key);
    if (!known || offset >= known.end || known.at > now) {
      const { end = 0 } = this.#deps.group.partition(topic, partition) ?? {};
      known = { end: Math.max(end, offset + 1), at: now };
      this.#ends.set(key, known);
    }
    return known.at;
  }
}
