/** Keeps what each process has counted, because its counters end with it. */
import { probesUrlOf } from '@tailrace/service/testing';
import { limitMs, realTimers } from '@tailrace/testing';
import { scrape, type Series } from '../support/metrics/scrape.ts';
import type { ServiceProcess } from '../support/processes/process.ts';
import type { Reading } from './facts.ts';

export class Meter {
  readonly readings: Reading[] = [];
  /** When each process of another release was started. */
  readonly #ignored = new Map<ServiceProcess, number>();

  /** Its counters may have other names. */
  ignore(process: ServiceProcess): void {
    this.#ignored.set(process, Date.now());
  }

  /**
   * Reads the metrics of a process, then ends it.
   *
   * @param isIdle whether nothing is left to be done for it
   */
  async beforeEnd(process: ServiceProcess, end: () => Promise<void>, isIdle = false): Promise<void> {
    // It has ended by itself, which is a violation of its own.
    if (process.pid === undefined) {
      await end();
      return;
    }
    const readAt = Date.now();
    const ignoredFrom = this.#ignored.get(process);
    const series = ignoredFrom === undefined ? await seriesOf(process) : undefined;
    try {
      await end();
    } finally {
      const { name } = process;
      // Where it could not be read, nothing is known of what it has counted.
      const from = series ? readAt : (ignoredFrom ?? -Infinity);
      this.readings.push({ service: name, from, until: Date.now(), isIdle, series: series ?? [] });
    }
  }
}

/** Undefined where the process does not answer. */
async function seriesOf(process: ServiceProcess): Promise<readonly Series[] | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = realTimers.setTimeout(() => {
    late.resolve(undefined);
  }, limitMs);
  const read = scrape([probesUrlOf(process)]).catch(() => undefined);
  const series = await Promise.race([read, late.promise]);
  realTimers.clearTimeout(timer);
  return series;
}
