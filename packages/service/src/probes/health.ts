/**
 * Named checks of what this process depends on. They run in the background, so that a probe answers immediately also
 * while a broker hangs. They do not decide whether the process is ready: see life/run.ts.
 */

/** Resolves if the check passes; otherwise throws an error whose message `/readyz` shows. */
export type HealthCheck = () => Promise<void>;

export interface CheckReport {
  readonly name: string;
  readonly ok: boolean;
  /** The problem; absent if it is ok. */
  readonly reason?: string;
}

/** The default of `everyMs` keeps the load of a hundred processes on the brokers at twenty requests a second. */
const defaults = { timeoutMs: 3_000, everyMs: 5_000 };

export class Health {
  readonly #timeoutMs: number;
  readonly #results = new Map<string, CheckReport>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #isClosed = false;

  /** Each check fails after `timeoutMs`. */
  constructor({ timeoutMs = defaults.timeoutMs } = {}) {
    this.#timeoutMs = timeoutMs;
  }

  /** The last result of each check, without those that have none yet. */
  get checks(): readonly CheckReport[] {
    return [...this.#results.values()];
  }

  /** Runs `check` now, and again `everyMs` after each result. Use a second for checks without I/O. */
  add(name: string, check: HealthCheck, { everyMs = defaults.everyMs } = {}): void {
    const repeat = async (): Promise<void> => {
      this.#results.set(name, await run(name, check, this.#timeoutMs));
      if (!this.#isClosed) this.#timers.set(name, setTimeout(() => void repeat(), everyMs).unref());
    };
    void repeat();
  }

  /** Repeats no check any more. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }
}

async function run(name: string, check: HealthCheck, timeoutMs: number): Promise<CheckReport> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    await Promise.race([check(), late.promise]);
    return { name, ok: true };
  } catch (error) {
    return { name, ok: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}
