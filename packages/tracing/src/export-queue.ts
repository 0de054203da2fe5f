/**
 * The spans that wait for their export. The batch processor of the SDK holds a bounded queue and sends one batch at a time;
 * this counts what it holds, the batch in flight included, and what it drops. So a collector that is dead or does not answer
 * costs a bounded number of spans in memory, and nothing waits for it.
 */
import { TraceFlags } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';

export interface ExportQueueOptions {
  readonly maxQueuedSpans: number;
  readonly exportEveryMs: number;
  readonly timeoutMs: number;
  readonly onFailure: (error: Error, spans: number) => void;
}

const maxBatchSpans = 512;
const refused = new Error('the collector did not take the spans');

export class ExportQueue implements SpanProcessor {
  readonly #options: ExportQueueOptions;
  readonly #batches: BatchSpanProcessor;
  #held = 0;
  #dropped = 0;
  #isClosed = false;

  constructor(exporter: SpanExporter, options: ExportQueueOptions) {
    this.#options = options;
    const { maxQueuedSpans, exportEveryMs, timeoutMs } = options;
    this.#batches = new BatchSpanProcessor({
      exporter: {
        export: (spans, report) => {
          exporter.export(spans, (result) => {
            this.#leave(
              spans.length,
              result.code === ExportResultCode.SUCCESS ? undefined : (result.error ?? refused),
            );
            report(result);
          });
        },
        shutdown: () => exporter.shutdown(),
      },
      maxQueueSize: maxQueuedSpans,
      maxExportBatchSize: Math.min(maxBatchSpans, maxQueuedSpans),
      scheduledDelayMillis: exportEveryMs,
      // The exporter ends a request itself. This is for one that does not.
      exportTimeoutMillis: timeoutMs + 1_000,
    });
  }

  /** Spans that were not exported. */
  get dropped(): number {
    return this.#dropped;
  }

  onStart(): void {
    // A span is held when it has ended.
  }

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    if (this.#isClosed || this.#held >= this.#options.maxQueuedSpans) {
      this.#dropped += 1;
      return;
    }
    this.#held += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.close(this.#options.timeoutMs);
  }

  /** Exports what is held. Resolves after `timeoutMs` at the latest; what is left then is dropped. */
  async close(timeoutMs: number): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      void this.#batches
        .shutdown()
        .catch(() => undefined)
        .then(() => {
          clearTimeout(timer);
          resolve();
        });
    });
    if (this.#held > 0)
      this.#leave(this.#held, new Error(`the collector did not take the spans within ${timeoutMs} ms`));
  }

  /** Ends the stay of spans in the queue, with the error where they were not exported. */
  #leave(spans: number, error?: Error): void {
    // After `close` gave up, the answer to its last export may still arrive.
    const left = Math.min(spans, this.#held);
    this.#held -= left;
    if (error === undefined || left === 0) return;
    this.#dropped += left;
    this.#options.onFailure(error, left);
  }
}
