/**
 * The queue of records that wait for their schemas: the topic `events.waiting`. Neither memory nor the progress in `events`
 * depends on how many records wait, or for how long.
 *
 * A record of `events` whose schema the registry does not provide is copied to the queue and is then done in `events`; so are
 * the later records of its key and source until it has left the queue. A record leaves the queue when it is processed. A record that
 * cannot be processed yet has an entry in memory without its bytes. Once the registry has answered for a schema, a pass
 * (pass.ts) reads the waiting records again and processes those that it can.
 */
import { isTailraceError } from '@tailrace/errors';
import type { ConsumedRecord, Kafka, NewPartition, Publisher, TrackedRecord, Work } from '@tailrace/kafka';
import { waitingPlaceOf, type WaitingPlace } from '@tailrace/records';
import type { FrameReader } from '@tailrace/registry';
import type { Rejection } from '@tailrace/routing';
import type { Log } from '@tailrace/service';
import type { RouterMetrics } from '../metrics.ts';
import type { OrderOf } from '../order.ts';
import type { ProcessRecord } from '../process-record.ts';
import type { Rejecter } from '../reject-record.ts';
import { InFlight } from './in-flight.ts';
import { keyHash, type KeyHash } from './keys.ts';
import { loadKeys } from './load-keys.ts';
import { WaitingPartition, type Entry } from './waiting-partition.ts';
import { runPass, type PassOptions } from './pass.ts';
import { originalRecord, waitingRecord } from './waiting-record.ts';

export type WaitingQueue = ReturnType<typeof createWaitingQueue>;

export interface WaitingQueueDependencies extends Pick<PassOptions, 'unfinished'> {
  readonly topics: { readonly events: string; readonly waiting: string };
  readonly kafka: Pick<Kafka, 'scan'>;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly frames: Pick<FrameReader, 'fetchSchema' | 'onFetched'>;
  readonly orderOf: OrderOf;
  readonly next: {
    readonly processRecord: ProcessRecord;
    /** Whether it has too much to do; {@link WaitingQueue.release} is called when it has less. */
    readonly isFull: () => boolean;
  };
  readonly rejecter: Pick<Rejecter, 'reject'>;
  readonly report: {
    readonly metrics: Pick<RouterMetrics, 'countReceived' | 'expired'>;
    readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  };
}

/** Schemas that are fetched within this time share a pass. */
const passDelayMs = 100;
const passRetryMs = 1_000;
/** For schemas that were fetched and evicted again before a pass used them. */
const recheckIntervalMs = 300_000;

export function createWaitingQueue(deps: WaitingQueueDependencies) {
  const { topics, kafka, unfinished, publisher, frames, orderOf, rejecter } = deps;
  const { processRecord, isFull } = deps.next;
  const { metrics, log } = deps.report;
  const partitions = new Map<number, WaitingPartition>();
  const inFlight = new InFlight(isFull);
  let passing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const isClosed = (): boolean => closed;

  /** Undefined where the record has no order. */
  const keyOf = (record: Pick<ConsumedRecord, 'key' | 'headers'>): KeyHash | undefined => {
    const order = orderOf(record);
    return order && keyHash(order);
  };

  const ownedPartition = ({ partition: number, work }: TrackedRecord): WaitingPartition => {
    let partition = partitions.get(number);
    if (!partition || partition.revoked) partitions.set(number, (partition = new WaitingPartition(number)));
    partition.anyWork = work;
    return partition;
  };

  /** Processes a waiting record. Returns whether it has left the queue; where it has not, it has an entry. */
  const route = (
    partition: WaitingPartition,
    record: ConsumedRecord,
    position: WaitingPlace,
    { work, entry: existing }: { readonly work: Work; readonly entry?: Entry },
  ): boolean => {
    const key = existing ? existing.key : keyOf(record);
    const tracked = inFlight.track(work, record);
    const processing = processRecord(originalRecord(topics.events, record, position, tracked));
    switch (processing.outcome) {
      case 'processed':
        partition.remove(work, key, position.offset);
        return true;
      case 'needs-schema':
        tracked.release();
        if (!existing) partition.addEntry(work, key);
        requestSchema(partition, processing.schemaId);
        return false;
      case 'waiting': {
        const entry = existing ?? partition.addEntry(work, key);
        entry.isProcessing = true;
        void processing.until.then(() => {
          if (work.revoked) tracked.release();
          partition.remove(work, key, position.offset);
          if (partition.hasEntryOf(key)) requestPass(partition);
        });
        return false;
      }
    }
  };

  const requestSchema = (partition: WaitingPartition, schemaId: number): void => {
    if (partition.neededSchemas.has(schemaId)) return;
    partition.neededSchemas.add(schemaId);
    void frames.fetchSchema(schemaId);
  };

  const requestPass = (partition: WaitingPartition): void => {
    partition.needsPass = true;
    schedulePass();
  };

  const schedulePass = (delayMs = passDelayMs): void => {
    if (passing || timer || closed) return;
    timer = setTimeout(() => {
      timer = undefined;
      passing = passOnce().then((nextDelayMs) => {
        passing = undefined;
        if ([...partitions.values()].some(({ needsPass }) => needsPass)) schedulePass(nextDelayMs);
      });
    }, delayMs);
  };

  /** Resolves with the delay before the next pass. */
  const passOnce = async (): Promise<number> => {
    for (const [number, partition] of partitions) if (partition.revoked) partitions.delete(number);
    const due = [...partitions.values()].filter(({ needsPass, entries }) => needsPass && entries.size > 0);
    for (const partition of partitions.values()) partition.needsPass = false;
    if (due.length === 0 || closed) return passDelayMs;
    try {
      await runPass(due, { unfinished, inFlight, isClosed, log, route: routeEntry, onExpired });
      return passDelayMs;
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      if (!isClosed()) log.warn({ err: error }, 'waiting records cannot be read, retrying');
      for (const partition of due) partition.needsPass = true;
      return passRetryMs;
    }
  };

  const onExpired = (records: number): void => metrics.expired.inc(records);

  const routeEntry: PassOptions['route'] = (partition, record, entry) => {
    const position = waitingPlaceOf(record);
    return position !== undefined && route(partition, record, position, { work: entry.work, entry });
  };

  frames.onFetched((schemaId) => {
    for (const partition of partitions.values()) {
      if (partition.neededSchemas.delete(schemaId)) requestPass(partition);
    }
  });
  const rechecking = setInterval(() => {
    for (const partition of partitions.values()) partition.needsPass ||= partition.entries.size > 0;
    schedulePass();
  }, recheckIntervalMs).unref();

  return {
    /** Whether an earlier record of the order of this record of `events` waits. */
    hasKeyOf(record: Pick<ConsumedRecord, 'partition' | 'key' | 'headers'>): boolean {
      const keys = partitions.get(record.partition)?.keys;
      if (!keys || keys.isEmpty) return false;
      const key = keyOf(record);
      return key !== undefined && keys.has(key);
    },
    /**
     * Copies a record of `events` to the queue.
     *
     * @throws TailraceError (from the promise) `record-too-large`, `shutting-down`
     */
    async enqueue(record: TrackedRecord): Promise<void> {
      const partition = ownedPartition(record);
      const key = keyOf(record);
      partition.addWritten(key, record.offset);
      try {
        await publisher.publish(waitingRecord(topics.waiting, record));
      } catch (error) {
        if (key !== undefined) partition.keys.remove(key, record.offset);
        throw error;
      }
    },
    /** Receives a record of `events.waiting`, in the order of its partition. */
    receive(record: TrackedRecord): void {
      const partition = ownedPartition(record);
      const position = waitingPlaceOf(record);
      if (!position) {
        metrics.countReceived();
        rejecter.reject(record, notFromRouter);
        return;
      }
      partition.received(position.offset);
      const key = keyOf(record);
      if (!partition.hasEntryOf(key) && !inFlight.isFull) {
        route(partition, record, position, { work: record.work });
        return;
      }
      partition.addEntry(record.work, key);
      if (inFlight.isFull) requestPass(partition);
    },
    /** Loads the keys that wait in partitions that are new to this router. */
    async load(newPartitions: readonly NewPartition[], signal: AbortSignal): Promise<void> {
      if (newPartitions.length === 0) return;
      // A router of an earlier release in the group may have left partitions of `events` to this router, with known keys.
      const loaded = new Map(
        newPartitions.map(({ partition: number }) => {
          const known = partitions.get(number);
          return [number, known && !known.revoked ? known : new WaitingPartition(number)];
        }),
      );
      const waiting = await loadKeys(kafka, topics.waiting, newPartitions, {
        partitions: loaded,
        keyOf,
        signal,
      });
      if (waiting === undefined) return;
      if (waiting > 0) log.info({ records: waiting }, 'records wait for their schemas');
      for (const [number, partition] of loaded) partitions.set(number, partition);
    },
    /** Records that were processed and are not yet acknowledged. */
    get inFlight(): number {
      return inFlight.records;
    },
    /** While new work is held, nothing leaves the queue. */
    hold(held: boolean): void {
      inFlight.hold(held);
    },
    /** Continues where the processing has had too much to do. */
    release(): void {
      inFlight.release();
    },
    async close(): Promise<void> {
      closed = true;
      clearTimeout(timer);
      clearInterval(rechecking);
      inFlight.unlimit();
      await passing;
    },
  };
}

const notFromRouter: Rejection = {
  code: 'invalid-call',
  message: 'Only routers write to events.waiting. Write the call to events.',
};
