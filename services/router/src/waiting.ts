/**
 * Where records wait for their schemas: in the topic `events.waiting`, so that neither memory nor the progress in `events`
 * depends on how many wait, or for how long.
 *
 * A record of `events` whose schema the registry does not give is copied there and is done in `events`; so are the later
 * ones of its key, until it has left. From there it is routed once its schema is known. What cannot be routed yet is only
 * remembered by its place. When the registry has answered for a schema, a pass reads what waits once more, in the order of
 * the topic, and routes what it can; a key whose first record still waits is passed over as a whole.
 */
import { isTailraceError } from '@tailrace/errors';
import type { ConsumedRecord, Kafka, NewPartition, Publisher, TrackedRecord, Work } from '@tailrace/kafka';
import type { FrameReader } from '@tailrace/registry';
import type { Log } from '@tailrace/service';
import { createFlight } from './flight.ts';
import type { Router } from './process-record.ts';
import { keyHash, type KeyHash } from './waiting-keys.ts';
import { WaitingPartition, type Held } from './waiting-partition.ts';
import { placeOf, restored, waitingRecord, type Place } from './waiting-record.ts';

export interface WaitingRoom {
  /** Whether an earlier record of its key waits. */
  holds(record: Pick<ConsumedRecord, 'partition' | 'key'>): boolean;
  /** Has a record of `events` wait. Rejects with `record-too-large` where it does not fit. */
  park(record: TrackedRecord): Promise<void>;
  /** Takes a record of `events.waiting`, in the order of its partition. */
  take(record: TrackedRecord): void;
  /** Learns which keys wait in partitions that are new to this router. */
  prepare(partitions: readonly NewPartition[], signal: AbortSignal): Promise<void>;
  /** Records that are on their way from here. */
  readonly inFlight: number;
  close(): Promise<void>;
}

export interface WaitingDependencies {
  readonly topics: { readonly events: string; readonly waiting: string };
  readonly kafka: Pick<Kafka, 'scan'>;
  /** What is unfinished in these partitions of `events.waiting`, in order. */
  readonly unfinished: (partitions: readonly number[]) => AsyncIterable<readonly ConsumedRecord[]>;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly frames: Pick<FrameReader, 'ask' | 'onAnswer'>;
  readonly router: () => Pick<Router, 'start' | 'reject'>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}

/** Answers that come shortly after each other share a pass. */
const gatherMs = 100;
const retryPauseMs = 1_000;
/** In case an answer was dropped again before a pass came to use it. */
const recheckMs = 300_000;

export function createWaitingRoom(deps: WaitingDependencies): WaitingRoom {
  const { topics, kafka, unfinished, publisher, frames, router, log } = deps;
  const partitions = new Map<number, WaitingPartition>();
  const flight = createFlight();
  let passing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const isClosed = (): boolean => closed;

  const partitionOf = ({ partition, work }: TrackedRecord): WaitingPartition => {
    let found = partitions.get(partition);
    if (!found || found.revoked) partitions.set(partition, (found = new WaitingPartition(partition)));
    found.owner = work;
    return found;
  };

  /** While members of an older release are in the group, its part of `events` may have been this router's before. */
  const ownedNow = (number: number): WaitingPartition => {
    const known = partitions.get(number);
    return known && !known.revoked ? known : new WaitingPartition(number);
  };

  const settleSoon = (afterMs = gatherMs): void => {
    if (passing || timer || closed) return;
    timer = setTimeout(() => {
      timer = undefined;
      passing = settle().then((pauseMs) => {
        passing = undefined;
        if ([...partitions.values()].some(({ unsettled }) => unsettled)) settleSoon(pauseMs);
      });
    }, afterMs);
  };

  /** Resolves with how long to wait before the next. */
  const settle = async (): Promise<number> => {
    for (const [number, partition] of partitions) if (partition.revoked) partitions.delete(number);
    const unsettled = [...partitions.values()].filter((one) => one.unsettled && one.held.size > 0);
    for (const partition of partitions.values()) partition.unsettled = false;
    if (unsettled.length === 0 || closed) return gatherMs;
    try {
      await pass(unsettled);
      return gatherMs;
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      if (!isClosed())
        log.warn({ err: error }, 'could not read the records that wait for schemas; trying again');
      for (const partition of unsettled) partition.unsettled = true;
      return retryPauseMs;
    }
  };

  /** Routes what is held and can be routed. */
  const pass = async (unsettled: readonly WaitingPartition[]): Promise<void> => {
    const views = new Map(unsettled.map((partition) => [partition.number, viewOf(partition)]));
    for (const { needed } of unsettled) needed.clear();
    for await (const records of unfinished([...views.keys()])) {
      for (const record of records) {
        const view = views.get(record.partition);
        if (!view) continue;
        view.readTo = record.offset;
        view.unread.delete(record.offset);
        const { partition, blocked } = view;
        const held = partition.held.get(record.offset);
        if (!held || held.work.revoked || (held.key !== undefined && blocked.has(held.key))) continue;
        await flight.hasSpace();
        if (isClosed()) return;
        const left = !held.started && route(partition, record, held);
        if (!left && held.key !== undefined) blocked.add(held.key);
      }
      // What was not held when this began has its own turn.
      if ([...views.values()].every(({ readTo, end }) => readTo >= end)) break;
    }
    for (const view of views.values()) {
      if (isClosed() || view.partition.revoked) continue;
      forgetExpired(view);
      for (const key of view.partition.heldKeys()) view.partition.unsettled ||= !view.blocked.has(key);
    }
  };

  /** What expired is gone; without the record behind it, it cannot be told from what was not read. */
  const forgetExpired = ({ partition, unread, readTo }: PassView): void => {
    const expired = [...unread].filter((offset) => offset < readTo);
    for (const offset of expired) {
      const held = partition.held.get(offset);
      if (!held || held.started) continue;
      partition.forget(held);
      held.work.done();
    }
    if (expired.length === 0) return;
    const fields = { partition: partition.number, records: expired.length };
    log.error(fields, 'records expired before their schemas were known');
  };

  /** Whether it is on its way now. */
  const route = (partition: WaitingPartition, record: ConsumedRecord, held: Held): boolean => {
    const place = placeOf(record);
    return place !== undefined && start(partition, record, place, held.work, held.key, held);
  };

  const start = (
    partition: WaitingPartition,
    record: ConsumedRecord,
    place: Place,
    work: Work,
    key: KeyHash | undefined,
    held?: Held,
  ): boolean => {
    const tracked = flight.track(work, record);
    const step = router().start(restored(topics.events, record, place, tracked));
    if (step.outcome === 'started') {
      partition.leave(work, key, place.offset);
      return true;
    }
    if (step.outcome === 'needs-schema') {
      tracked.release();
      if (!held) partition.hold(work, key);
      need(partition, step.schemaId);
      return false;
    }
    const waits = held ?? partition.hold(work, key);
    waits.started = true;
    void step.until.then(() => {
      if (work.revoked) tracked.release();
      partition.leave(work, key, place.offset);
      if (!partition.holds(key)) return;
      partition.unsettled = true;
      settleSoon();
    });
    return false;
  };

  const need = (partition: WaitingPartition, schemaId: number): void => {
    if (partition.needed.has(schemaId)) return;
    partition.needed.add(schemaId);
    void frames.ask(schemaId);
  };

  frames.onAnswer((schemaId) => {
    for (const partition of partitions.values()) {
      if (!partition.needed.delete(schemaId)) continue;
      partition.unsettled = true;
      settleSoon();
    }
  });
  const rechecking = setInterval(() => {
    for (const partition of partitions.values()) partition.unsettled ||= partition.held.size > 0;
    settleSoon();
  }, recheckMs).unref();

  return {
    holds({ partition: number, key }) {
      const partition = partitions.get(number);
      return key !== null && partition?.keys.isEmpty === false && partition.keys.has(keyHash(key));
    },
    park(record) {
      const partition = partitionOf(record);
      const key = keyOf(record);
      partition.wrote(key, record.offset);
      return publisher.publish(waitingRecord(topics.waiting, record)).catch((error: unknown) => {
        if (key !== undefined) partition.keys.leave(key, record.offset);
        throw error;
      });
    },
    take(record) {
      const partition = partitionOf(record);
      const place = placeOf(record);
      if (!place) {
        router().reject(record, notFromRouter);
        return;
      }
      partition.read(place.offset);
      const key = keyOf(record);
      if (!partition.holds(key) && !flight.isFull) {
        start(partition, record, place, record.work, key);
        return;
      }
      partition.hold(record.work, key);
      if (!flight.isFull) return;
      partition.unsettled = true;
      settleSoon();
    },
    async prepare(fresh, signal) {
      if (fresh.length === 0) return;
      const starts = new Map(fresh.map(({ partition, next }) => [partition, next]));
      const finished = new Map(fresh.map(({ partition, finished }) => [partition, finished]));
      const found = new Map(fresh.map(({ partition: number }) => [number, ownedNow(number)]));
      const scan = await kafka.scan({ topic: topics.waiting, starts });
      let waiting = 0;
      for await (const records of scan) {
        if (signal.aborted) return;
        for (const record of records) {
          const place = placeOf(record);
          const ranges = finished.get(record.partition) ?? [];
          if (!place || ranges.some(({ from, to }) => from <= record.offset && record.offset < to)) continue;
          found.get(record.partition)?.found(keyOf(record), place.offset);
          waiting += 1;
        }
      }
      if (signal.aborted) return;
      if (waiting > 0) log.info({ records: waiting }, 'records wait for their schemas');
      for (const [number, partition] of found) partitions.set(number, partition);
    },
    get inFlight() {
      return flight.records;
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      clearInterval(rechecking);
      flight.open();
      await passing;
    },
  };
}

function keyOf({ key }: Pick<ConsumedRecord, 'key'>): KeyHash | undefined {
  return key === null ? undefined : keyHash(key);
}

/** One partition during a pass. */
interface PassView {
  readonly partition: WaitingPartition;
  /** Keys whose first record waits on. */
  readonly blocked: Set<KeyHash>;
  /** Of what was held when the pass began, what it has not come to. */
  readonly unread: Set<number>;
  /** The last of them. */
  readonly end: number;
  readTo: number;
}

function viewOf(partition: WaitingPartition): PassView {
  const offsets = [...partition.held.keys()];
  return {
    ...{ partition, blocked: new Set(), unread: new Set(offsets) },
    ...{ end: offsets.at(-1) ?? -1, readTo: -1 },
  };
}

const notFromRouter = {
  code: 'invalid-call',
  message: 'Only routers write to events.waiting. Write the call to events.',
} as const;
