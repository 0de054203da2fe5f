/**
 * What a destination has been sent, by delivery id, from the topics: 16 bytes for each delivery in a table that is at least a third
 * full.
 *
 * Every record of `deliveries` and of the replay topic ends delivered or as a dead letter. So a delivery that has neither is
 * unknown to the destination, one with a dead letter that was not replayed has failed, and all others are delivered or pending.
 */
import { hasNoBody, readDeadLetters } from '@tailrace/deadletters';
import { TailraceError } from '@tailrace/errors';
import { replayedDeliveryId } from '@tailrace/events';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import { parsePosition, replayIdHeader, userKeyOf, type RecordPosition } from '@tailrace/records';
import { KeyNumbers } from '@tailrace/suppressions';
import type { TopicNames } from '@tailrace/topology';
import type { EventSelection } from './selection.ts';

/** 64 MB: two thirds of 2^22 places. */
const mostDeliveries = 2_700_000;
/** Clocks of services differ by less: a delivery is written after its event. */
const farApartMs = 86_400_000;

/** Numbers above 0 are the position of a dead letter. */
const sent = 0;
const sentByThis = -1;
/** Its user was deleted, and its body with her. */
const removed = -2;

/** Of Kafka: fewer partitions than 4,096, and fewer records than 2^40 in one. */
const perPartition = 2 ** 40;

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

  /** `at` is the time of the oldest delivery of a partition of which others have expired. */
  begins(at: number): void {
    this.#completeSince = Math.max(this.#completeSince, at);
  }

  wasSent(id: string): void {
    if (!this.#states.has(id)) this.#set(id, sent);
  }

  wasSentByThis(id: string): void {
    if (this.#stateOf(id) === sentByThis) return;
    this.#ofThis += 1;
    this.#set(id, sentByThis);
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
    if (state === removed || state === sentByThis) return undefined;
    if (state === sent) {
      const again = replayedDeliveryId(id, this.#replayId);
      if (mode === 'missing' || this.#states.has(again)) return undefined;
      this.wasSentByThis(again);
      return { deliveryId: again };
    }
    this.wasSentByThis(id);
    if (state === undefined) return { deliveryId: id };
    const place = state - 1;
    return {
      deliveryId: id,
      letter: { partition: Math.floor(place / perPartition), offset: place % perPartition },
    };
  }

  #stateOf(id: string): number | undefined {
    return this.#states.get(id)?.[0];
  }

  #set(id: string, state: number): void {
    if (this.#states.size >= mostDeliveries && !this.#states.has(id)) {
      throw new TailraceError(
        'replay-too-large',
        `The destination was sent more than ${mostDeliveries.toLocaleString('en')} deliveries since the beginning of the period. ` +
          'Replay it in shorter periods, or for some of its sources.',
      );
    }
    this.#states.set(id, state);
  }
}

/** @throws TailraceError `replay-too-large`, `kafka-unavailable` */
export async function readSent(
  kafka: Pick<Kafka, 'scan' | 'offsets' | 'offsetsAt'>,
  names: TopicNames,
  { destinationId, sources, userKey, from, until }: EventSelection,
  replayId: string,
): Promise<SentDeliveries> {
  const known = new SentDeliveries(replayId);
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
  for await (const records of await kafka.scan({ topic: names.deliveries, since })) {
    for (const record of records) {
      if (!first.has(record.partition)) first.set(record.partition, record);
      const id = idOf(record);
      if (id !== undefined) known.wasSent(id);
    }
  }
  for (const [partition, { low, high }] of await kafka.offsets(names.deliveries)) {
    const { offset, timestamp } = first.get(partition) ?? { offset: high, timestamp: Date.now() };
    if (low > 0 && offset <= low) known.begins(timestamp);
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
