/**
 * Attempts in the log: a line for each selected attempt, and a summary once a minute. A line for each of thousands of
 * attempts a second would be a hundred gigabytes a day; the topic `attempts` has all of them.
 */
import type { Log } from '@tailrace/service';
import type { AttemptRecord } from '@tailrace/topics';
import { readTraceparent, traceFields } from '@tailrace/tracing';
import type { DeliveryCounts } from './counts.ts';

/** The attempts that are logged. */
export type LogAttempts = 'failures' | 'all' | 'none';

export interface AttemptLogOptions {
  readonly log: Pick<Log, 'info'>;
  readonly which: LogAttempts;
  /** The totals of all destinations, since the start of the process. */
  readonly totals: DeliveryCounts;
  readonly summaryEveryMs?: number;
}

const mostNamed = 5;

export class AttemptLog {
  readonly #options: AttemptLogOptions;
  readonly #timer: NodeJS.Timeout;
  #last: Numbers;
  #lastAt = performance.now();
  /** Failed attempts by destination. Attempts are made for existing destinations only, so this is bounded. */
  readonly #failed = new Map<string, number>();

  constructor(options: AttemptLogOptions) {
    this.#options = options;
    this.#last = numbersOf(options.totals);
    this.#timer = setInterval(() => {
      this.#summarise();
    }, options.summaryEveryMs ?? 60_000).unref();
  }

  attempted(attempt: AttemptRecord, traceparent?: string): void {
    const { log, which } = this.#options;
    const { outcome, destinationId } = attempt;
    const hasFailed = outcome !== 'delivered';
    if (hasFailed) this.#failed.set(destinationId, (this.#failed.get(destinationId) ?? 0) + 1);
    // A log may outlive a deletion request, so it does not name users.
    if (which === 'all' || (which === 'failures' && hasFailed)) {
      const trace = traceFields(readTraceparent(traceparent));
      log.info({ ...attempt, userKey: undefined, ...trace }, 'attempt');
    }
  }

  /** Writes the last summary. */
  close(): void {
    clearInterval(this.#timer);
    this.#summarise();
  }

  #summarise(): void {
    const numbers = numbersOf(this.#options.totals);
    const since = Object.entries(numbers).map(
      ([name, value]) => [name, value - this.#last[name as keyof Numbers]] as const,
    );
    const seconds = Math.round((performance.now() - this.#lastAt) / 1_000);
    this.#last = numbers;
    this.#lastAt = performance.now();
    if (since.every(([, value]) => value === 0)) return;
    const topFailing = [...this.#failed]
      .sort(([, some], [, others]) => others - some)
      .slice(0, mostNamed)
      .map(([destinationId, failed]) => ({ destinationId, failed }));
    this.#failed.clear();
    this.#options.log.info({ seconds, ...Object.fromEntries(since), topFailing }, 'attempts, in sum');
  }
}

type Numbers = ReturnType<typeof numbersOf>;

/** `dead` includes the dead letters without an attempt. */
function numbersOf({
  attempts,
  delivered,
  failed,
  deadLetters,
  deferred,
  behind,
  parked,
  paused,
}: DeliveryCounts) {
  return {
    ...{ attempts, delivered },
    ...{ retried: sum(failed.retry), dead: sum(deadLetters) },
    ...{ deferred, behind, parked, paused },
  };
}

function sum(counts: ReadonlyMap<string, number> | undefined): number {
  return [...(counts?.values() ?? [])].reduce((sum, count) => sum + count, 0);
}
