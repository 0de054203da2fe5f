/**
 * What a destination has been sent, by delivery id, from the topics: 16 bytes for each delivery in a table that is at least a third
 * full.
 *
 * Every record of `deliveries` and of the replay topic ends delivered or as a dead letter. So a delivery that has neither is
 * unknown to the destination, one with a dead letter that was not replayed has failed, and all others are delivered or pending.
 */
import { hasNoBody, readDeadLetters } from '@tailrace/deadletters';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import { replayedDeliveryId } from '@tailrace/events';
import type { ConsumedRecord, FinishedOffsets, Kafka } from '@tailrace/kafka';
import {
  formatPosition,
  parsePosition,
  replayIdHeader,
  userKeyOf,
  waitingPlaceOf,
  type RecordPosition,
} from '@tailrace/records';
import { KeyNumbers } from '@tailrace/suppressions';
import type { TopicNames } from '@tailrace/topology';
import { endOf, type EventSelection } from './selection.ts';

/** 64 MB: two thirds of 2^22 places. */
const mostDeliveries = 2_700_000;
/** Clocks of services differ by less: a delivery is written after its event. */
const farApartMs = 86_400_000;
/** Kafka refuses records that are further ahead of its clock. */
const clocksDifferMs = 3_600_000;

/** Numbers above 0 are the position of a dead letter. */
const sent = 0;
const sentByThis = -1;
/** Its user was deleted, and its body with her. */
const removed = -2;

/** Of Kafka: fewer partitions than 4,096, and fewer records than 2^40 in one. */
const perPartition = 2 ** 40;

export interface SentDependencies {
  readonly kafka: Pick<Kafka, 'scan' | 'finished' | 'offsets' | 'offsetsAt' | 'topicSetting'>;
  readonly names: TopicNames;
  /** The consumer group of the router. */
  readonly routerGroup: string;
}

export interface Due {
  readonly deliveryId: string;
  /** The dead letter that it is the replay of. */
  readonly letter?: RecordPosition;
}

export class SentDeliveries {
  readonly #states = new KeyNumbers();
  readonly #replayId: string;
  #ofThis = 0;
  #completeSince = 0;
  #hasWaiting = false;

  constructor(replayId: string) {
    this.#replayId = replayId;
  }

  /** How many of them this replay has sent. */
  get ofThis(): number {
    return this.#ofThis;
  }

  /** The deliveries of events from before this time may have expired. */
  get completeSince(): number {
    return this.#completeSince;
  }

  /** Whether the destination was sent it, or has a dead letter of it. */
  knows(id: string): boolean {
    return this.#states.has(id);
  }

  /** Whether the event waits in `events.waiting`, from which the router still routes it. */
  waits(event: RecordPosition): boolean {
    return this.#hasWaiting && this.#states.has(formatPosition(event));
  }

  /** Positions of events share the table with the ids of deliveries. */
  isWaiting(event: RecordPosition): void {
    this.#hasWaiting = true;
    this.#set(formatPosition(event), sent);
  }

  /** `at` is the time before which deliveries of a partition have expired. */
  begins(at: number): void {
    this.#completeSince = Math.max(this.#completeSince, at);
  }

  wasSent(id: string): void {
    if (!this.#states.has(id)) this.#set(id, sent);
  }

  wasSentByThis(id: string): void {
    if (this.#stateOf(id) !== sentByThis) this.#sendByThis(id);
  }

  /** A dead letter that was not replayed. What this replay has sent it does not send again. */
  died(id: string, { partition, offset }: RecordPosition, hasBody: boolean): void {
    if (this.#stateOf(id) === sentByThis) return;
    this.#set(id, hasBody ? partition * perPartition + offset + 1 : removed);
  }

  /**
   * What is to be sent for an event, and marks it as sent by this replay: the second record of an event is a repeat. A delivery that the
   * destination has been sent gets another id, so that a receiver that knows the first one handles it again.
   */
  take(id: string, mode: EventSelection['mode']): Due | undefined {
    const state = this.#stateOf(id);
    if (state === removed || state === sentByThis || (mode === 'missing' && state === sent)) return undefined;
    if (mode === 'all') {
      const again = replayedDeliveryId(id, this.#replayId);
      // Also where the first delivery has expired or become a dead letter since this replay has sent the other.
      if (this.#states.has(again)) return undefined;
      if (state === sent) {
        this.#sendByThis(again);
        return { deliveryId: again };
      }
    }
    this.#sendByThis(id);
    if (state === undefined) return { deliveryId: id };
    const place = state - 1;
    return {
      deliveryId: id,
      letter: { partition: Math.floor(place / perPartition), offset: place % perPartition },
    };
  }

  #sendByThis(id: string): void {
    this.#ofThis += 1;
    this.#set(id, sentByThis);
  }

  #stateOf(id: string): number | undefined {
    return this.#states.get(id)?.[0];
  }

  #set(id: string, state: number): void {
    if (this.#states.size >= mostDeliveries && !this.#states.has(id)) {
      throw new TailraceError(
        'replay-too-large',
        `The destination was sent more than ${mostDeliveries.toLocaleString('en')} deliveries since the beginning of the period, ` +
          'or so many events wait for a schema. ' +
          'Replay it in shorter periods, or for some of its sources.',
      );
    }
    this.#states.set(id, state);
  }
}

/** @throws TailraceError `replay-too-large`, `kafka-unavailable` */
export async function readSent(
  deps: SentDependencies,
  selection: EventSelection,
  replayId: string,
): Promise<SentDeliveries> {
  const { kafka, names } = deps;
  const { destinationId, sources, userKey, from, until } = selection;
  const known = new SentDeliveries(replayId);
  // Before the deliveries: what has left the queue by then has its delivery.
  await readWaiting(deps, selection, known);
  const since = from - farApartMs;
  // Deliveries of later events need no place in the table.
  const ends = await kafka.offsetsAt(names.events, until + farApartMs);
  const isOfLater = ({ headers }: ConsumedRecord): boolean => {
    const position = parsePosition(headers['event-position']?.toString());
    return position !== undefined && position.offset >= (ends.get(position.partition) ?? Infinity);
  };
  const idOf = (record: ConsumedRecord): string | undefined => {
    const { headers, key } = record;
    if (headers['destination-id']?.toString() !== destinationId) return undefined;
    if (sources?.includes(headers['source-id']?.toString() ?? '') === false || isOfLater(record))
      return undefined;
    const isOfUser =
      userKey === undefined || userKeyOf({ key: key?.toString() ?? '', destinationId }) === userKey;
    return isOfUser ? headers['delivery-id']?.toString() : undefined;
  };
  const first = new Map<number, ConsumedRecord>();
  for await (const records of await kafka.scan({ topic: names.deliveries, since, isGentle: true })) {
    for (const record of records) {
      if (!first.has(record.partition)) first.set(record.partition, record);
      const id = idOf(record);
      if (id !== undefined) known.wasSent(id);
    }
  }
  const keptSince = await timeKeptSince(kafka, names.deliveries);
  for (const [partition, { low, high }] of await kafka.offsets(names.deliveries)) {
    const { offset, timestamp } = first.get(partition) ?? { offset: high, timestamp: Date.now() };
    if (low > 0 && offset <= low) known.begins(Math.min(timestamp, keptSince));
  }
  const onReplay = (record: ConsumedRecord): void => {
    const id = idOf(record);
    if (id === undefined) return;
    if (record.headers[replayIdHeader]?.toString() === replayId) known.wasSentByThis(id);
    else known.wasSent(id);
  };
  const filter = { destinationId, userKey, since };
  for await (const letters of await readDeadLetters(kafka, names, { filter, onReplay })) {
    for (const { summary, record } of letters) {
      const { deliveryId, replayed } = summary;
      if (deliveryId !== undefined && !replayed) known.died(deliveryId, record, !hasNoBody(summary));
    }
  }
  return known;
}

/** By partition, the offset up to which a consumer group has finished everything. */
export function finishedUpTo(finished: ReturnType<FinishedOffsets['get']>): ReadonlyMap<number, number> {
  return new Map(Array.from(finished ?? [], ([partition, [first]]) => [partition, first?.to ?? 0]));
}

/** Marks the events of the period that wait for a schema. */
async function readWaiting(
  { kafka, names, routerGroup }: SentDependencies,
  selection: EventSelection,
  known: SentDeliveries,
): Promise<void> {
  const topic = names.eventsWaiting;
  const finished = (await kafka.finished(routerGroup, [topic])).get(topic);
  for await (const records of await kafka.scan({ topic, starts: finishedUpTo(finished) })) {
    for (const record of records) {
      const { partition } = record;
      const place = waitingPlaceOf(record);
      if (!place || place.timestamp < selection.from || place.timestamp >= endOf(selection)) continue;
      const ranges = finished?.get(partition) ?? [];
      const isFinished = ranges.some(({ from, to }) => from <= record.offset && record.offset < to);
      if (!isFinished) known.isWaiting({ ...place, partition });
    }
  }
}

/** No record that was written later has expired. Infinity where that is not known. */
async function timeKeptSince(kafka: Pick<Kafka, 'topicSetting'>, topic: string): Promise<number> {
  const settingOf = async (name: string): Promise<number> =>
    Number((await kafka.topicSetting([topic], name)).get(topic) ?? NaN);
  try {
    const [ms, bytes] = [await settingOf('retention.ms'), await settingOf('retention.bytes')];
    return ms > 0 && bytes < 0 ? Date.now() - ms + clocksDifferMs : Infinity;
  } catch (error) {
    if (isTailraceError(error, 'kafka-permission-missing')) return Infinity;
    throw error;
  }
}
