/**
 * Reports events whose messageId was used before with other content: a metric, and once a minute a line for each of their sources.
 * A public write key can send any number of them.
 */
import type { Log } from '@tailrace/service';
import type { RouterMetrics } from '../metrics.ts';

export interface ReusedIdsOptions {
  readonly metrics: Pick<RouterMetrics, 'reusedIds'>;
  readonly log: Pick<Log, 'warn'>;
}

const minuteMs = 60_000;

export class ReusedIds {
  readonly #options: ReusedIdsOptions;
  readonly #timer: NodeJS.Timeout;
  /** Of this minute, by source. Only existing sources have events, so this is bounded. */
  readonly #sources = new Map<string, { events: number; readonly messageId: string }>();

  constructor(options: ReusedIdsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#write(), minuteMs).unref();
  }

  report(sourceId: string, messageId: string): void {
    this.#options.metrics.reusedIds.inc();
    const reported = this.#sources.get(sourceId);
    if (reported) reported.events += 1;
    else this.#sources.set(sourceId, { events: 1, messageId });
  }

  /** Writes the last lines. */
  close(): void {
    clearInterval(this.#timer);
    this.#write();
  }

  /** The messageId is that of the first event, for `tailrace why`. */
  #write(): void {
    for (const [sourceId, { events, messageId }] of this.#sources) {
      this.#options.log.warn({ sourceId, events, messageId }, 'message ids reused with other content');
    }
    this.#sources.clear();
  }
}
