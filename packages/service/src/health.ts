/** The readiness of this process, as a list of named checks. */

/** Resolves if the check passes; otherwise throws an error whose message `/readyz` shows. */
export type HealthCheck = () => Promise<void>;

export interface CheckReport {
  readonly name: string;
  readonly ready: boolean;
  /** The problem; absent if ready. */
  readonly reason?: string;
}

export interface Health {
  /** `cacheMs` is how long a result is reused; use 0 for checks without I/O. */
  add(name: string, check: HealthCheck, options?: { readonly cacheMs?: number }): void;
  report(): Promise<{ readonly ready: boolean; readonly checks: readonly CheckReport[] }>;
}

/**
 * Each check fails after `timeoutMs`. Its result is reused for `cacheMs`, and concurrent reports share one run, so that
 * frequent probes do not load the broker.
 */
export function createHealth(options: { timeoutMs?: number; cacheMs?: number } = {}): Health {
  const { timeoutMs = 3_000, cacheMs = 1_000 } = options;
  const checks: (() => Promise<CheckReport>)[] = [];
  return {
    add(name, check, { cacheMs: cacheForMs = cacheMs } = {}) {
      let last: { readonly report: Promise<CheckReport>; expiresAt: number } | undefined;
      checks.push(() => {
        if (last && performance.now() < last.expiresAt) return last.report;
        const current = { report: run(name, check, timeoutMs), expiresAt: Infinity };
        last = current;
        void current.report.then(() => {
          current.expiresAt = performance.now() + cacheForMs;
        });
        return current.report;
      });
    },
    async report() {
      const reports = await Promise.all(checks.map((check) => check()));
      return { ready: reports.every(({ ready }) => ready), checks: reports };
    },
  };
}

async function run(name: string, check: HealthCheck, timeoutMs: number): Promise<CheckReport> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`no answer within ${timeoutMs} ms`));
  }, timeoutMs);
  try {
    await Promise.race([check(), late.promise]);
    return { name, ready: true };
  } catch (error) {
    return { name, ready: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}
