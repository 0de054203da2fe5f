/**
 * Decides which schemas are requested from the registry, and when. The registry receives a few requests at a time, independent
 * of the number of ids. New ids have priority; failed ids are retried beside them with growing delays, so ids that the registry
 * cannot provide do not delay others.
 */

export interface FetcherOptions {
  /** One request. Rejects where the registry did not answer. */
  readonly request: (schemaId: number) => Promise<void>;
  readonly onFetched: (schemaId: number) => void;
  readonly limits?: Partial<FetchLimits>;
}

export interface FetchLimits {
  /** Concurrent requests. */
  readonly requests: number;
  /** How many of these may be retries. */
  readonly retries: number;
  /** Ids that are being fetched; further ids are refused. */
  readonly ids: number;
  /** How long callers wait for the first answer. */
  readonly waitMs: number;
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
}

const defaultLimits: FetchLimits = {
  requests: 4,
  retries: 2,
  ids: 100_000,
  waitMs: 1_000,
  firstRetryMs: 250,
  maxRetryMs: 30_000,
};
const tickMs = 100;

interface Fetch {
  failures: number;
  /** When it is retried, by `performance.now()`; Infinity while it is queued or requested. */
  dueAt: number;
  /** For callers that wait for the first answer; undefined once it failed or took too long. */
  firstAnswer: PromiseWithResolvers<boolean> | undefined;
}

export function createFetcher({ request, onFetched, limits }: FetcherOptions) {
  const { requests, retries, ids, waitMs, firstRetryMs, maxRetryMs } = { ...defaultLimits, ...limits };
  const fetches = new Map<number, Fetch>();
  const newIds: number[] = [];
  let dueIds: number[] = [];
  const running = { new: 0, retry: 0 };
  let ticking: NodeJS.Timeout | undefined;
  let closed = false;

  const stopWaiting = (fetch: Fetch): void => {
    fetch.firstAnswer?.resolve(false);
    fetch.firstAnswer = undefined;
  };

  const run = async (id: number, fetch: Fetch, kind: keyof typeof running): Promise<void> => {
    running[kind] += 1;
    const answered = await request(id).then(
      () => true,
      () => false,
    );
    running[kind] -= 1;
    if (closed) return;
    if (answered) {
      fetches.delete(id);
      fetch.firstAnswer?.resolve(true);
      onFetched(id);
    } else {
      // Random, so that replicas do not all retry at the same time after an outage.
      const delayMs = Math.min(firstRetryMs * 2 ** fetch.failures, maxRetryMs);
      fetch.failures += 1;
      fetch.dueAt = performance.now() + delayMs * (0.75 + Math.random() / 2);
      stopWaiting(fetch);
    }
    startRequests();
  };

  const startRequests = (): void => {
    if (closed) return;
    while (running.new + running.retry < requests) {
      const kind = newIds.length > 0 ? 'new' : 'retry';
      const id = kind === 'new' ? newIds.shift() : running.retry < retries ? dueIds.shift() : undefined;
      if (id === undefined) break;
      const fetch = fetches.get(id);
      if (fetch) void run(id, fetch, kind);
    }
    if (fetches.size > 0) ticking ??= setInterval(tick, tickMs).unref();
    else stopTicking();
  };

  const tick = (): void => {
    const now = performance.now();
    for (const [id, fetch] of fetches) {
      if (fetch.dueAt > now) continue;
      fetch.dueAt = Infinity;
      dueIds.push(id);
    }
    startRequests();
  };

  const stopTicking = (): void => {
    clearInterval(ticking);
    ticking = undefined;
  };

  return {
    /**
     * Resolves with true once the registry has answered for the schema, and with false where the request failed or takes longer
     * than `waitMs`. The schema is then requested again until there is an answer; until then this resolves with false
     * immediately.
     */
    fetch(id: number): Promise<boolean> {
      const known = fetches.get(id);
      if (known) return known.firstAnswer?.promise ?? Promise.resolve(false);
      if (closed || fetches.size >= ids) return Promise.resolve(false);
      const firstAnswer = Promise.withResolvers<boolean>();
      const fetch: Fetch = { failures: 0, dueAt: Infinity, firstAnswer };
      fetches.set(id, fetch);
      newIds.push(id);
      const timer = setTimeout(() => stopWaiting(fetch), waitMs).unref();
      void firstAnswer.promise.then(() => clearTimeout(timer));
      startRequests();
      return firstAnswer.promise;
    },
    close(): void {
      closed = true;
      stopTicking();
      dueIds = [];
      newIds.length = 0;
      for (const fetch of fetches.values()) stopWaiting(fetch);
      fetches.clear();
    },
  };
}
