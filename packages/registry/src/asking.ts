/**
 * Which schemas the registry is asked for, and when. However many ids come, it gets a few requests at a time: those
 * that were never asked for go first, and those that failed are retried beside them, ever more slowly, so that ids
 * which cannot be had keep nothing from the others.
 */

export interface Asking {
  /**
   * Resolves with true once the schema was answered for, and with false where that failed or takes too long. From
   * then on it is asked for again until there is an answer, and until then this resolves with false immediately.
   */
  ask(schemaId: number): Promise<boolean>;
  close(): void;
}

export interface AskingOptions {
  /** One request. Rejects where the registry gave no answer. */
  readonly request: (schemaId: number) => Promise<void>;
  readonly onAnswer: (schemaId: number) => void;
  readonly limits?: Partial<AskingLimits>;
}

export interface AskingLimits {
  /** Requests at a time, and how many of them may be retries. */
  readonly requests: number;
  readonly retries: number;
  /** Ids that are asked for at a time; others are turned away. */
  readonly ids: number;
  /** How long the first to need a schema wait for it. */
  readonly patienceMs: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

const defaultLimits: AskingLimits = {
  requests: 4,
  retries: 2,
  ids: 100_000,
  patienceMs: 1_000,
  firstPauseMs: 250,
  longestPauseMs: 30_000,
};
const tickMs = 100;

interface Wanted {
  failures: number;
  /** When it may be retried, by `performance.now()`; Infinity while it is asked for or queued. */
  dueAt: number;
  /** What waits for the first answer; undefined once that failed or took too long. */
  waiting: PromiseWithResolvers<boolean> | undefined;
}

export function createAsking({ request, onAnswer, limits }: AskingOptions): Asking {
  const { requests, retries, ids, patienceMs, firstPauseMs, longestPauseMs } = {
    ...defaultLimits,
    ...limits,
  };
  const wanted = new Map<number, Wanted>();
  const fresh: number[] = [];
  let due: number[] = [];
  const running = { fresh: 0, retries: 0 };
  let ticking: NodeJS.Timeout | undefined;
  let closed = false;

  const giveUpWaiting = (entry: Wanted): void => {
    entry.waiting?.resolve(false);
    entry.waiting = undefined;
  };

  const run = async (id: number, entry: Wanted, kind: keyof typeof running): Promise<void> => {
    running[kind] += 1;
    const answered = await request(id).then(
      () => true,
      () => false,
    );
    running[kind] -= 1;
    if (closed) return;
    if (answered) {
      wanted.delete(id);
      entry.waiting?.resolve(true);
      onAnswer(id);
    } else {
      // At random, so that replicas do not come all at the same time when it is back.
      const pauseMs = Math.min(firstPauseMs * 2 ** entry.failures, longestPauseMs);
      entry.failures += 1;
      entry.dueAt = performance.now() + pauseMs * (0.75 + Math.random() / 2);
      giveUpWaiting(entry);
    }
    pump();
  };

  const pump = (): void => {
    if (closed) return;
    while (running.fresh + running.retries < requests) {
      const kind = fresh.length > 0 ? 'fresh' : 'retries';
      const id = kind === 'fresh' ? fresh.shift() : running.retries < retries ? due.shift() : undefined;
      if (id === undefined) break;
      const entry = wanted.get(id);
      if (entry) void run(id, entry, kind);
    }
    if (wanted.size > 0) ticking ??= setInterval(tick, tickMs).unref();
    else stopTicking();
  };

  const tick = (): void => {
    const now = performance.now();
    for (const [id, entry] of wanted) {
      if (entry.dueAt > now) continue;
      entry.dueAt = Infinity;
      due.push(id);
    }
    pump();
  };

  const stopTicking = (): void => {
    clearInterval(ticking);
    ticking = undefined;
  };

  return {
    ask(id) {
      const known = wanted.get(id);
      if (known) return known.waiting?.promise ?? Promise.resolve(false);
      if (closed || wanted.size >= ids) return Promise.resolve(false);
      const waiting = Promise.withResolvers<boolean>();
      const entry: Wanted = { failures: 0, dueAt: Infinity, waiting };
      wanted.set(id, entry);
      fresh.push(id);
      const timer = setTimeout(() => {
        giveUpWaiting(entry);
      }, patienceMs).unref();
      void waiting.promise.then(() => {
        clearTimeout(timer);
      });
      pump();
      return waiting.promise;
    },
    close() {
      closed = true;
      stopTicking();
      due = [];
      fresh.length = 0;
      for (const entry of wanted.values()) giveUpWaiting(entry);
      wanted.clear();
    },
  };
}
