/**
 * Reads the retry topics beside the consumer group, in passes. Several recalls share one, and only a few passes run at the same
 * time. Reading is no faster than the recalls can dispatch. A recall that is blocked for long is left to a pass of its own.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import type { ConsumedRecord, Span } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { Recall } from './recall.ts';

export interface PassesDependencies {
  /** In the order in which they are read. */
  readonly tiers: readonly string[];
  readonly unfinished: (
    topic: string,
    partitions: readonly number[],
    spans: ReadonlyMap<number, Span>,
  ) => AsyncIterable<readonly ConsumedRecord[]>;
  readonly log: Pick<Log, 'warn'>;
}

/** Passes at the same time. Each reads the retry topics, with up to 8 MB in flight. */
const mostPasses = 3;
const mostInPass = 100;
const retryPauseMs = 1_000;

export class Passes {
  readonly #deps: PassesDependencies;
  #unread: Recall[] = [];
  #running = 0;
  #stopped = false;

  constructor(dependencies: PassesDependencies) {
    this.#deps = dependencies;
  }

  add(recall: Recall): void {
    this.#unread.push(recall);
    this.#start();
  }

  remove(recall: Recall): void {
    this.#unread = this.#unread.filter((other) => other !== recall);
  }

  stop(): void {
    this.#stopped = true;
  }

  #start(): void {
    while (this.#running < mostPasses && !this.#stopped) {
      const [first, ...others] = this.#unread;
      if (!first) return;
      const shared =
        first.pass === 'alone' ? [] : others.filter(({ pass }) => pass === 'shared').slice(0, mostInPass - 1);
      const recalls = new Set([first, ...shared]);
      this.#unread = this.#unread.filter((recall) => !recalls.has(recall));
      this.#running += 1;
      void this.#read([...recalls]);
    }
  }

  async #read(recalls: readonly Recall[]): Promise<void> {
    try {
      await readTiers(this.#deps, recalls);
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      this.#deps.log.warn({ err: error }, 'reading retry topics for a recall failed, retrying');
      await wait(retryPauseMs, undefined, { ref: false });
    }
    this.#running -= 1;
    if (this.#stopped) return;
    for (const recall of recalls) recall.passEnded();
    this.#start();
  }
}

/** @throws TailraceError `kafka-unavailable`. The recalls know then how far they were read. */
async function readTiers(
  { tiers, unfinished }: PassesDependencies,
  recalls: readonly Recall[],
): Promise<void> {
  const reading = new Map(recalls.map((recall) => [recall.spec.destinationId, recall]));
  for (const topic of tiers) {
    const spans = spansOf(topic, [...reading.values()]);
    if (spans.size === 0) continue;
    for await (const records of unfinished(topic, [...spans.keys()], spans)) {
      for (const record of records) {
        const id = record.headers['destination-id']?.toString() ?? '';
        const recall = reading.get(id);
        if (recall && !(await recall.offer(record))) reading.delete(id);
      }
      if (reading.size === 0) return;
    }
    for (const recall of reading.values()) recall.topicRead(topic);
  }
}

/** Returns, by partition, the offsets that any of the recalls has not read. */
function spansOf(topic: string, recalls: readonly Recall[]): Map<number, Span> {
  const spans = new Map<number, Span>();
  for (const recall of recalls) {
    for (const { number, parts } of recall.progress.partitions) {
      const part = parts.find((part) => part.topic === topic);
      if (!part || part.isRead) continue;
      const { from, to } = spans.get(number) ?? { from: part.readTo, to: part.end };
      spans.set(number, { from: Math.min(from, part.readTo), to: Math.max(to, part.end) });
    }
  }
  return spans;
}
