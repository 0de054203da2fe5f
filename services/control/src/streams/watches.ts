/**
 * Those who watch sources or destinations. Topics are read from the moment at which the first watcher came, until the last one has left.
 * Otherwise nothing is read, and no other service ever does anything for it.
 *
 * One reading serves all streams of an instance. How many bytes it looks at a second is bounded, with equal parts for what is watched, and
 * so is what a watcher is sent: what is beyond is counted for those who watch.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ConsumedRecord, Kafka, Tail, TailPart } from '@tailrace/kafka';
import type { FastifyReply } from 'fastify';
import type { Caller } from '../access/authenticate.ts';
import type { Streams } from './streams.ts';

export interface Watcher {
  readonly caller: Caller | undefined;
  /** Only what has this event. */
  readonly event?: string | undefined;
  /** Only what is of this user. */
  readonly userId?: string | undefined;
  readonly send: (line: Buffer) => void;
}

export interface Viewer extends Watcher {
  /** Lines that may still be sent in this second. */
  left: number;
  missed: number;
}

/** A source or a destination that is watched. */
export interface Watched {
  readonly id: string;
  readonly viewers: Set<Viewer>;
  /** Bytes of records that may still be looked at in this second. */
  left: number;
}

export interface WatchesOptions<More> {
  readonly kafka: Pick<Kafka, 'tail' | 'offsets'>;
  /** Reading groups are named after the first. */
  readonly topics: readonly string[];
  readonly limits: { readonly bytesInSecond: number; readonly ofOne: number };
  /** What is kept of each that is watched. */
  readonly newState: () => More;
  readonly onRecord: (record: ConsumedRecord) => void;
  /** Called after the records of one fetch. */
  readonly onRead?: () => void;
  /** Called each second. */
  readonly onTick?: () => void;
}

const tickMs = 1_000;
/** Records that are read in one turn of the event loop. */
const readTogether = 500;
/** What a record costs at least. */
const leastBytes = 1_024;

export class Watches<More extends object> {
  readonly #options: WatchesOptions<More>;
  readonly #watched = new Map<string, Watched & More>();
  #tail: Promise<Tail> | undefined;
  #closing: Promise<unknown> = Promise.resolve();
  #ticking: NodeJS.Timeout | undefined;

  constructor(options: WatchesOptions<More>) {
    this.#options = options;
  }

  /** Undefined where nobody is watching it. */
  get(id: string): (Watched & More) | undefined {
    return this.#watched.get(id);
  }

  all(): readonly (Watched & More)[] {
    return [...this.#watched.values()];
  }

  /** Resolves once everything is read that the topics have now. */
  async refresh(): Promise<void> {
    await (await this.#tail)?.refresh();
  }

  /**
   * Resolves when the topics are being read, with a function that ends it.
   *
   * @throws TailraceError `kafka-unavailable`
   */
  async watch(id: string, watcher: Watcher): Promise<() => void> {
    const { limits, newState } = this.#options;
    const left = this.partOf(limits.bytesInSecond);
    const watched = this.#watched.get(id) ?? { id, viewers: new Set(), left, ...newState() };
    const viewer: Viewer = { ...watcher, left: limits.ofOne, missed: 0 };
    watched.viewers.add(viewer);
    this.#watched.set(id, watched);
    const unwatch = (): void => {
      if (!watched.viewers.delete(viewer)) return;
      if (watched.viewers.size === 0) this.#watched.delete(id);
      if (this.#watched.size === 0) this.#stop();
    };
    try {
      await (this.#tail ??= this.#start());
    } catch (error) {
      unwatch();
      throw error;
    }
    return unwatch;
  }

  /** The part of one that is watched of what is there for all of them. */
  partOf(all: number): number {
    return Math.ceil(all / Math.max(1, this.#watched.size));
  }

  /** Whether a record may be looked at in this second. Otherwise the viewers have missed it. */
  mayLook(watched: Watched, { value }: Pick<ConsumedRecord, 'value'>, viewers: readonly Viewer[]): boolean {
    if (watched.left <= 0) {
      for (const viewer of viewers) viewer.missed += 1;
      return false;
    }
    watched.left -= Math.max(leastBytes, value?.length ?? 0);
    return true;
  }

  /** Whether the viewer may be sent a line in this second. Otherwise it has missed it. */
  maySend(viewer: Viewer): boolean {
    if (viewer.left === 0) {
      viewer.missed += 1;
      return false;
    }
    viewer.left -= 1;
    return true;
  }

  async #start(): Promise<Tail> {
    this.#ticking = setInterval(() => this.#tick(), tickMs);
    await this.#closing;
    const { kafka, topics } = this.#options;
    const offsets = new Map(
      await Promise.all(topics.map(async (topic) => [topic, await kafka.offsets(topic)] as const)),
    );
    return kafka.tail({
      topics,
      startOf: (topic, partition) => offsets.get(topic)?.get(partition)?.high,
      onRecords: (parts) => this.#read(parts),
    });
  }

  #stop(): void {
    clearInterval(this.#ticking);
    // A tail that did not start was reported to its watchers.
    this.#closing = this.#tail?.then((tail) => tail.close()).catch(() => undefined) ?? this.#closing;
    this.#tail = undefined;
  }

  async #read(parts: readonly TailPart[]): Promise<void> {
    const { onRecord, onRead } = this.#options;
    let count = 0;
    for (const { records } of parts) {
      for (const record of records) {
        onRecord(record);
        count += 1;
        if (count % readTogether === 0) await nextTurn();
      }
    }
    onRead?.();
  }

  #tick(): void {
    const { limits, onTick } = this.#options;
    const part = this.partOf(limits.bytesInSecond);
    for (const watched of this.#watched.values()) {
      watched.left = Math.min(part, watched.left + part);
      for (const viewer of watched.viewers) {
        if (viewer.missed > 0) viewer.send(missedLine(viewer.missed));
        viewer.missed = 0;
        viewer.left = limits.ofOne;
      }
    }
    onTick?.();
  }
}

function missedLine(missed: number): Buffer {
  return Buffer.from(`${JSON.stringify({ missed })}\n`);
}

/**
 * Answers with a stream of lines of JSON.
 *
 * @param watch begins to send lines, and resolves with a function that ends it
 * @throws TailraceError `too-many-requests`, `shutting-down`, and those of `watch`
 */
export async function streamWatched(
  {
    streams,
    reply,
    caller,
  }: {
    readonly streams: Streams;
    readonly reply: FastifyReply;
    readonly caller: Caller | undefined;
  },
  watch: (send: Watcher['send']) => Promise<() => void>,
): Promise<void> {
  let send: Watcher['send'] = () => undefined;
  const unwatch = await watch((line) => send(line));
  try {
    send = streams.open(caller, reply, {
      headers: { 'content-type': 'application/x-ndjson', 'x-accel-buffering': 'no' },
      // Sends the headers immediately.
      first: '\n',
      heartbeat: '\n',
      missed: (missed) => missedLine(missed).toString(),
      onEnd: unwatch,
    });
  } catch (error) {
    unwatch();
    throw error;
  }
}
