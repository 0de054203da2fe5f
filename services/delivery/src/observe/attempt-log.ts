/**
 * Attempts in the log: a line for each selected attempt, a summary once a minute, and for each destination a line a minute with
 * its timeouts. A line for each of thousands of attempts a second would be a hundred gigabytes a day; the topic `attempts` has
 * all of them.
 */
import type { Log } from '@tailrace/service';
import type { AttemptRecord } from '@tailrace/records';
import { readTraceparent, traceFields } from '@tailrace/tracing';
import type { DeliveryCounts } from './counts.ts';

/** The attempts that are logged. */
export type LogAttempts = 'failures' | 'all' | 'none';

export interface AttemptLogOptions {
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly which: LogAttempts;
  /** The totals of all destinations, since the start of the process. */
  readonly totals: DeliveryCounts;
}

const mostNamed = 5;
const minuteMs = 60_000;

/** Timeouts of one destination that are not logged yet. */
interface Timeouts {
  count: number;
  loggedAt: number;
}

export class AttemptLog {
  readonly #options: AttemptLogOptions;
  readonly #timer: NodeJS.Timeout;
  #last: Numbers;
  #lastAt = performance.now();
  /** Failed attempts by destination. Attempts are made for existing destinations only, so this is bounded. */
  readonly #failed = new Map<string, number>();
  /** By destination, where a timeout was logged in the last minutes. */
  readonly #timeouts = new Map<string, Timeouts>();

  constructor(options: AttemptLogOptions) {
    this.#options = options;
    this.#last = numbersOf(options.totals);
    this.#timer = setInterval(() => {
      this.#summarise();
      this.#reportTimeouts();
    }, minuteMs).unref();
  }

  attempted(attempt: AttemptRecord, traceparent?: string): void {
    const { log, which } = this.#options;
    const { outcome, destinationId } = attempt;
    const hasFailed = outcome !== 'delivered';
    if (hasFailed) this.#failed.set(destinationId, (this.#failed.get(destinationId) ?? 0) + 1);
    if (attempt.urls.some(({ reason }) => reason === 'timeout')) this.#timedOut(destinationId);
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
    for (const [destinationId, timeouts] of this.#timeouts) this.#warn(destinationId, timeouts);
    this.#timeouts.clear();
  }

  #timedOut(destinationId: string): void {
    let timeouts = this.#timeouts.get(destinationId);
    if (!timeouts) this.#timeouts.set(destinationId, (timeouts = { count: 0, loggedAt: -Infinity }));
    timeouts.count += 1;
    if (performance.now() - timeouts.loggedAt >= minuteMs) this.#warn(destinationId, timeouts);
  }

  #reportTimeouts(): void {
    for (const [destinationId, timeouts] of this.#timeouts) {
      if (performance.now() - timeouts.loggedAt < minuteMs) continue;
      if (timeouts.count > 0) this.#warn(destinationId, timeouts);
      else this.#timeouts.delete(destinationId);
    }
  }

  #warn(destinationId: string, timeouts: Timeouts): void {
    if (timeouts.count === 0) return;
    this.#options.log.warn({ destinationId, timeouts: timeouts.count }, 'requests timed out');
    timeouts.count = 0;
    timeouts.loggedAt = performance.now();
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
    this.#options.log.info({ seconds, ...Object.fromEntries(since), topFailing }, 'attempt summary');
  }
}

type Numbers = ReturnType<typeof numbersOf>;

/** `dead` includes the dead letters without an attempt. */
function numbersOf({ attempts, delivered, failed, deadLetters, waits }: DeliveryCounts) {
  return { attempts, delivered, retried: sum(failed.retry), dead: sum(deadLetters), ...waits };
}

function sum(counts: ReadonlyMap<string, number> | undefined): number {
  return [...(counts?.values() ?? [])].reduce((sum, count) => sum + count, 0);
}
