/** Publishes the records of a replay in batches, at its rate, until it is stopped. */
import { setTimeout as wait } from 'node:timers/promises';
import { RateLimiter } from './rate-limiter.ts';

export interface PacedWriterOptions<Item> {
  /** Looked up for each batch. */
  readonly ratePerSecond: () => number;
  /** Stops the writer after the batch in flight. */
  readonly signal: AbortSignal;
  readonly bytesOf: (item: Item) => number;
  readonly publish: (batch: readonly Item[]) => Promise<void>;
  /** Resolves when the next batch may be published, or the signal is aborted. Default: at once. */
  readonly ready?: (() => Promise<void>) | undefined;
}

/** A batch is a tenth of a second of work, for an even rate, and fits one record batch of Kafka. */
const batchesPerSecond = 10;
const maxBatch = { records: 500, bytes: 512 * 1024 };

export class PacedWriter<Item> {
  readonly #options: PacedWriterOptions<Item>;
  readonly #limiter = new RateLimiter();
  #batch: Item[] = [];
  #bytes = 0;

  constructor(options: PacedWriterOptions<Item>) {
    this.#options = options;
  }

  /** False once the signal is aborted: the item, and the rest of its batch, are not published. */
  async add(item: Item): Promise<boolean> {
    const { bytesOf, ratePerSecond } = this.#options;
    const size = bytesOf(item);
    const isFull = this.#batch.length >= Math.min(ratePerSecond() / batchesPerSecond, maxBatch.records);
    if (isFull || (this.#bytes > 0 && this.#bytes + size > maxBatch.bytes)) await this.flush();
    if (this.#options.signal.aborted) return false;
    this.#batch.push(item);
    this.#bytes += size;
    return true;
  }

  /** Publishes the items that wait. False where the signal was aborted before. */
  async flush(): Promise<boolean> {
    const { ratePerSecond, signal, ready, publish } = this.#options;
    const batch = this.#batch;
    this.#batch = [];
    this.#bytes = 0;
    if (batch.length === 0) return true;
    await pause(this.#limiter.waitMs, signal);
    await ready?.();
    if (signal.aborted) return false;
    this.#limiter.spend(batch.length, ratePerSecond());
    await publish(batch);
    return true;
  }
}

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
