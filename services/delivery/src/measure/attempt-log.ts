/**
 * What the log says of attempts: a line for each that is asked for, and once a minute what they came to. At thousands of
 * attempts a second a line for each would be a hundred gigabytes a day; each is in the topic `attempts` in any case.
 */
import type { Log } from '@tailrace/service';
import type { AttemptRecord } from '@tailrace/topics';
import type { DeliveryCounts } from './counts.ts';

/** Which attempts get a line. */
export type LogAttempts = 'failures' | 'all' | 'none';

export interface AttemptLogOptions {
  readonly log: Pick<Log, 'info'>;
  readonly which: LogAttempts;
  /** Of all destinations, ever growing. */
  readonly totals: DeliveryCounts;
  readonly summaryEveryMs?: number;
}

const mostNamed = 5;

export class AttemptLog {
  readonly #options: AttemptLogOptions;
  readonly #timer: NodeJS.Timeout;
  #last: Numbers;
  #lastAt = performance.now();
  /** Failed attempts by destination. An attempt is made for one that exists, so there are no more than those. */
  readonly #failed = new Map<string, number>();

  constructor(options: AttemptLogOptions) {
    this.#options = options;
    this.#last = numbersOf(options.totals);
    this.#timer = setInterval(() => {
      this.#summarise();
    }, options.summaryEveryMs ?? 60_000).unref();
  }

  attempted(attempt: AttemptRecord): void {
    const { log, which } = this.#options;
    const { outcome, destinationId } = attempt;
    const hasFailed = outcome !== 'delivered';
    if (hasFailed) this.#failed.set(destinationId, (this.#failed.get(destinationId) ?? 0) + 1);
    // A log outlives the wish of a user to be forgotten, so it does not name users.
    if (which === 'all' || (which === 'failures' && hasFailed))
      log.info({ ...attempt, userKey: undefined }, 'attempt');
  }

  /** Writes what there was since the last summary. */
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

/** `dead` are the dead letters, those without an attempt included. */
function numbersOf({ attempts, delivered, failed, deadLetters, deferred, behind, parked }: DeliveryCounts) {
  return {
    ...{ attempts, delivered },
    ...{ retried: sum(failed.retry), dead: sum(deadLetters) },
    ...{ deferred, behind, parked },
  };
}

function sum(counts: ReadonlyMap<string, number> | undefined): number {
  return [...(counts?.values() ?? [])].reduce((sum, count) => sum + count, 0);
}
