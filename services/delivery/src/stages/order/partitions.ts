/** The partitions of this replica that have ordered deliveries, and which of those wait in their retry topics. */
import { isTailraceError } from '@tailrace/errors';
import type { Work } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { Received } from '../../delivery.ts';
import { Heap } from '../due/heap.ts';
import { Chains, type Link } from './chains.ts';
import { readBacklogs, type BacklogSource } from './read-backlog.ts';

interface JobLink<J> extends Link {
  readonly job: J;
}

/** Times are milliseconds since the epoch. */
export interface OrderedPartition<J> {
  readonly number: number;
  /** Any work of it, which says whether it is still owned. */
  readonly work: Pick<Work, 'revoked'>;
  chains: Chains<JobLink<J>>;
  /** Whether the retry topics were read. */
  known: boolean;
  /** All of `deliveries` below this offset was received. */
  receivedTo: number;
  /** Jobs that cannot be decided about yet, lowest sequence first, so that none has to go behind another one here. */
  readonly heldBack: Heap<J>;
  heldBackSince: number;
  /** When missing deliveries may be looked for again. */
  checkAt: number;
}

export interface OrderedPartitionsDependencies {
  readonly waiting: BacklogSource;
  readonly log: Pick<Log, 'debug' | 'warn'>;
  readonly now: () => number;
}

/** A delivery that is later than this is looked for in the retry topics. */
export const missingMs = 60_000;
/** Partitions that are assigned together are read together. */
const gatherMs = 100;
const retryPauseMs = 1_000;
const checkIntervalMs = 600_000;
/** After this, all deliveries that the backlog knows have been written. */
const settleMs = 5_000;

export class OrderedPartitions<J extends Received> {
  readonly #deps: OrderedPartitionsDependencies;
  readonly #partitions = new Map<number, OrderedPartition<J>>();
  #unread: OrderedPartition<J>[] = [];
  #reading = Promise.resolve();
  #stopped = false;

  constructor(dependencies: OrderedPartitionsDependencies) {
    this.#deps = dependencies;
  }

  /** The partition as it is owned now. */
  of(number: number): OrderedPartition<J> | undefined {
    const partition = this.#partitions.get(number);
    return partition?.work.revoked ? undefined : partition;
  }

  /** Begins with a partition that is new here. `read` resolves when its retry topics were read, or it is not owned any more. */
  assign(work: Work): { readonly partition: OrderedPartition<J>; readonly read: Promise<void> } {
    for (const [number, partition] of this.#partitions) {
      if (partition.work.revoked) this.#partitions.delete(number);
    }
    const partition: OrderedPartition<J> = {
      number: work.partition,
      work,
      chains: new Chains(),
      known: false,
      receivedTo: 0,
      heldBack: new Heap((a, b) => sequenceOf(a) < sequenceOf(b)),
      heldBackSince: 0,
      checkAt: 0,
    };
    this.#partitions.set(work.partition, partition);
    if (this.#unread.length === 0) {
      this.#reading = new Promise((resolve) => setTimeout(() => resolve(this.#read()), gatherMs));
    }
    this.#unread.push(partition);
    return { partition, read: this.#reading };
  }

  stop(): void {
    this.#stopped = true;
    this.#partitions.clear();
  }

  /** Calls {@link #unblock} where it was not called for the partition lately. */
  forgetMissing(partition: OrderedPartition<J>, now: number): void {
    if (now < partition.checkAt) return;
    partition.checkAt = now + checkIntervalMs;
    void this.#unblock(partition);
  }

  async #read(): Promise<void> {
    const partitions = this.#unread;
    this.#unread = [];
    for (;;) {
      const owned = partitions.filter(({ work }) => !work.revoked);
      if (owned.length === 0 || this.#stopped) return;
      try {
        const numbers = owned.map(({ number }) => number);
        const backlogs = await readBacklogs(this.#deps.waiting, numbers);
        for (const partition of owned) {
          partition.chains = new Chains(backlogs.get(partition.number));
          partition.known = true;
          this.#deps.log.debug({ partition: partition.number }, 'ordered deliveries in retry topics read');
        }
        return;
      } catch (error) {
        if (!isTailraceError(error, 'kafka-unavailable')) throw error;
        this.#deps.log.warn({ err: error }, 'reading ordered deliveries in retry topics failed, retrying');
        await pause(retryPauseMs);
      }
    }
  }

  /**
   * Unblocks keys that wait for a record which no longer exists, because it expired or its topic was deleted and created
   * again. Deliveries that are long overdue are looked for in the retry topics before they count as missing.
   */
  async #unblock({ number, work, chains: { backlog } }: OrderedPartition<J>): Promise<void> {
    const before = this.#deps.now() - missingMs;
    const overdue = new Set(backlog.overdue(before).map(String));
    await pause(settleMs);
    if (work.revoked || this.#stopped) return;
    try {
      const existing = (await readBacklogs(this.#deps.waiting, [number])).get(number);
      // Meanwhile a delivery may have ended, or been written to a retry topic that was already read.
      const missing = backlog
        .overdue(before)
        .filter((entry) => overdue.has(String(entry)) && existing?.has(...entry) === false);
      if (missing.length === 0) return;
      for (const [key, sequence] of missing) backlog.remove(key, sequence);
      const fields = { partition: number, missing: missing.length };
      this.#deps.log.warn(fields, 'deliveries missing from retry topics; unblocking later ones');
    } catch (error) {
      if (!isTailraceError(error, 'kafka-unavailable')) throw error;
    }
  }
}

export function sequenceOf({ delivery: { sequence = 0 } }: Received): number {
  return sequence;
}

/** Does not keep the process alive. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
