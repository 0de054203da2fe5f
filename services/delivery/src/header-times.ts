/**
 * Times in headers were written by the clock of another process, which may be wrong; so may this one's. Each is
 * believed as far as it can be true, and no further:
 *
 * - `due-at`: in a tier nothing waits longer than the tier's delay, from when the record is known to exist. A record
 *   there without one is due. In other topics it has no meaning.
 * - `first-attempt-at`: it was made before it is read. One in the future is moved back to as long ago as it was when
 *   the record was written, so that the retry window ends. One in the past is believed, however long ago it is: a wrong
 *   clock cannot be told from a long absence, and no attempt may be made after the window.
 * - `place-at`: no place is promised further ahead than the retry window.
 * - `accepted-at`, by which nothing is decided: see measure/acceptance.ts.
 */
import type { Work } from '@tailrace/kafka';
import type { Delivery, TopicNames } from '@tailrace/topics';
import { withAcceptance } from './measure/acceptance.ts';

export interface TimeBounds {
  readonly now: number;
  /** The delay of the tier that the record lies in; undefined where it lies in none. */
  readonly tierMs: number | undefined;
  readonly windowMs: number;
  /** Tells of a record that claims to be due later than is possible since when it is known to exist. */
  readonly existedAt?: () => number;
}

/** `delivery`, with the times that it can have; `writtenAt` is the record's timestamp. */
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

export interface HeaderTimesDependencies {
  readonly names: Pick<TopicNames, 'retryTierDelayMs'>;
  readonly windowMs: number;
  /** Where the partition ends; undefined where it is not owned. */
  readonly position: (topic: string, partition: number) => { readonly end: number } | undefined;
  readonly now: () => number;
}

type Place = Pick<Work, 'topic' | 'partition' | 'offset' | 'timestamp'>;

export class HeaderTimes {
  readonly #deps: HeaderTimesDependencies;
  readonly #tiersMs = new Map<string, number | undefined>();
  /** Of a partition with an impossible due time: its end at a time. What lies before that existed then. */
  readonly #ends = new Map<string, { readonly end: number; readonly at: number }>();

  constructor(dependencies: HeaderTimesDependencies) {
    this.#deps = dependencies;
  }

  /** Of a record that is taken. */
  correct(delivery: Delivery, record: Place): Delivery {
    const { windowMs } = this.#deps;
    const [now, tierMs] = [this.#deps.now(), this.#tierMs(record.topic)];
    const existedAt = (): number => this.#existedAt(record, now);
    const times = plausibleTimes(delivery, record.timestamp, { now, tierMs, windowMs, existedAt });
    return withAcceptance(times, record.timestamp, now);
  }

  /** When a record that waits in a tier should be back. */
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
   * Without it, a million records of a fast clock would wait for the delay of their tier again and again, as many at a
   * time as are read ahead.
   */
  #existedAt({ topic, partition, offset }: Place, now: number): number {
    const key = `${topic}/${partition}`;
    let known = this.#ends.get(key);
    if (!known || offset >= known.end || known.at > now) {
      const { end = 0 } = this.#deps.position(topic, partition) ?? {};
      known = { end: Math.max(end, offset + 1), at: now };
      this.#ends.set(key, known);
    }
    return known.at;
  }
}
