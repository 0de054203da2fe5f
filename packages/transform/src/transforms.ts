/**
 * Runs transforms in threads, so that none holds up the event loop of its service.
 *
 * Owners take turns, one run each, and the runs of an owner are made in their order. A run that uses too much CPU time is ended in its
 * thread. One that does not even end then, inside a function of QuickJS that takes long, ends with its thread: it is repeated once in
 * the thread of suspects, and fails if that ends it too. After a run that was too long its owner is a suspect: until a number of runs in a
 * row have ended in time, or while it has the same script, where the thread was ended. So a script costs the others one run, and then
 * shares a thread with suspects alone.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { ready, type TransformResult, type TransformRun } from './run.ts';

/** What an owner waits for, and whether its runs have taken too long. */
interface Owner {
  readonly id: string;
  readonly waiting: Job[];
  /** The thread that has runs of it. */
  thread: Thread | undefined;
  running: number;
  trust: Trust;
}

type Trust =
  | { readonly kind: 'trusted' }
  /** `inTime`: how many runs in a row have ended in time since. */
  | { readonly kind: 'suspect'; readonly inTime: number }
  /** This script of it has ended a thread. Until `restsUntil` it is not run, because it has ended that of suspects. */
  | { readonly kind: 'distrusted'; readonly code: string; readonly restsUntil: number };

interface Job {
  readonly run: TransformRun;
  readonly owner: Owner;
  readonly end: (result: TransformResult) => void;
  /** Whether a thread has ended during this run. */
  readonly hasEndedThread: boolean;
}

export interface TransformsOptions {
  /** Threads beside that of suspects. Default: half of the processors, 4 at most. */
  readonly threads?: number;
  /** How much CPU time a run may take before its thread is ended; for a suspect. Defaults 0.5 s and 5 s. */
  readonly stuckAfterMs?: { readonly trusted: number; readonly suspect: number };
  /** Called where a thread has ended. */
  readonly onThreadEnded?: () => void;
}

/** Sent ahead to a thread, so that it does not wait for the event loop of the service between two runs. */
const ahead = 4;
const runsToTrust = 20;
/** Else one that never ends would have the thread of suspects all the time. */
const restMs = 60_000;
const ticksMs = 100;
const trusted: Trust = { kind: 'trusted' };

export class Transforms {
  readonly #owners = new Map<string, Owner>();
  /** Owners with runs that wait, in the order of their turns. */
  readonly #turns = new Set<Owner>();
  readonly #threads: readonly Thread[];
  #waiting = 0;
  #isClosed = false;

  constructor({
    threads = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2))),
    stuckAfterMs = { trusted: 500, suspect: 5_000 },
    onThreadEnded = () => undefined,
  }: TransformsOptions = {}) {
    const newThread = (isForSuspects: boolean): Thread =>
      new Thread({
        isForSuspects,
        stuckAfterMs: isForSuspects ? stuckAfterMs.suspect : stuckAfterMs.trusted,
        onResult: (job, result) => {
          this.#ended(job, result);
        },
        onEnded: (jobs) => {
          onThreadEnded();
          this.#repeat(jobs);
        },
      });
    this.#threads = [...Array.from({ length: threads }, () => newThread(false)), newThread(true)];
  }

  /** Never rejects. After {@link close} it does not settle. */
  run(run: TransformRun): Promise<TransformResult> {
    return new Promise((end) => {
      const { owner: id } = run;
      let owner = this.#owners.get(id);
      if (!owner)
        this.#owners.set(id, (owner = { id, waiting: [], thread: undefined, running: 0, trust: trusted }));
      if (isResting(owner, run.code)) {
        end(resting);
        return;
      }
      owner.waiting.push({ run, owner, end, hasEndedThread: false });
      this.#waiting += 1;
      this.#turns.add(owner);
      this.#fill();
    });
  }

  /** Runs that have not ended. */
  get pending(): number {
    return this.#waiting;
  }

  /** Whether the latest runs of the owner have taken too long. */
  isSuspect(id: string): boolean {
    const owner = this.#owners.get(id);
    return owner !== undefined && isSuspect(owner);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #fill(): void {
    if (this.#isClosed) return;
    for (const owner of this.#turns) {
      if (this.#threads.every(isFull)) break;
      const forSuspects = isSuspect(owner);
      const thread = owner.thread ?? this.#leastBusy(forSuspects);
      // What is sent to another thread before the earlier runs have ended would overtake them.
      if (thread.isForSuspects !== forSuspects || isFull(thread)) continue;
      const job = owner.waiting.shift();
      this.#turns.delete(owner);
      if (!job) continue;
      if (owner.waiting.length > 0) this.#turns.add(owner);
      owner.thread = thread;
      owner.running += 1;
      thread.run(job);
    }
  }

  #leastBusy(forSuspects: boolean): Thread {
    const able = this.#threads.filter(({ isForSuspects }) => isForSuspects === forSuspects);
    return able.reduce((least, thread) => (thread.running < least.running ? thread : least));
  }

  #ended({ run, owner, end }: Job, result: TransformResult): void {
    this.#left(owner);
    this.#waiting -= 1;
    owner.trust = nextTrust(owner.trust, run.code, result);
    if (owner.running === 0 && owner.waiting.length === 0 && owner.trust.kind === 'trusted') {
      this.#owners.delete(owner.id);
    }
    end(result);
    this.#fill();
  }

  #left(owner: Owner): void {
    owner.running -= 1;
    if (owner.running === 0) owner.thread = undefined;
  }

  /** Of the jobs of a thread that has ended, the first has ended it. */
  #repeat(jobs: readonly Job[]): void {
    for (const { owner } of jobs) this.#left(owner);
    const [first, ...others] = jobs;
    if (!first) return;
    for (const job of others.toReversed()) this.#putBack(job);
    const { owner, hasEndedThread } = first;
    const { code } = first.run;
    const restsUntil = hasEndedThread ? performance.now() + restMs : 0;
    owner.trust = { kind: 'distrusted', code, restsUntil };
    if (!hasEndedThread) {
      this.#putBack({ ...first, hasEndedThread: true });
      this.#fill();
      return;
    }
    const rest = this.#takeAll(owner, code);
    owner.running += 1;
    this.#ended(first, stuck);
    for (const job of rest) job.end(resting);
  }

  /** What waits of the owner with this script, which does not wait any more. */
  #takeAll(owner: Owner, code: string): readonly Job[] {
    const waiting = owner.waiting.splice(0);
    const taken = waiting.filter(({ run }) => run.code === code);
    owner.waiting.push(...waiting.filter(({ run }) => run.code !== code));
    if (owner.waiting.length === 0) this.#turns.delete(owner);
    this.#waiting -= taken.length;
    return taken;
  }

  #putBack(job: Job): void {
    job.owner.waiting.unshift(job);
    this.#turns.add(job.owner);
  }
}

function isSuspect({ trust }: Owner): boolean {
  return trust.kind !== 'trusted';
}

function isFull({ running }: Thread): boolean {
  return running >= ahead;
}

function isResting({ trust }: Owner, code: string): boolean {
  return trust.kind === 'distrusted' && trust.code === code && performance.now() < trust.restsUntil;
}

const resting: TransformResult = {
  outcome: 'failed',
  error: {
    message: 'The function was not run, because it did not end less than a minute ago.',
    isTooLong: true,
  },
  cpuMs: 0,
  logs: [],
};

const stuck: TransformResult = {
  outcome: 'failed',
  error: { message: 'The function did not end, and its thread was ended.', isTooLong: true },
  cpuMs: 0,
  logs: [],
};

/** After a run of this script. */
function nextTrust(trust: Trust, code: string, result: TransformResult): Trust {
  if (trust.kind === 'distrusted' && trust.code === code) return trust;
  if (result.outcome === 'failed' && result.error.isTooLong === true) return { kind: 'suspect', inTime: 0 };
  if (trust.kind === 'trusted') return trust;
  const inTime = trust.kind === 'suspect' ? trust.inTime + 1 : 1;
  return inTime < runsToTrust ? { kind: 'suspect', inTime } : trusted;
}

interface ThreadOptions {
  readonly isForSuspects: boolean;
  readonly stuckAfterMs: number;
  readonly onResult: (job: Job, result: TransformResult) => void;
  /** Called with the jobs that it has not answered, in their order. */
  readonly onEnded: (jobs: readonly Job[]) => void;
}

/** A thread, which starts with its first run and again where it has ended. */
class Thread {
  readonly #options: ThreadOptions;
  #worker: Worker | undefined;
  #isReady = false;
  #isEnding = false;
  #jobs: Job[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Counts answers, and how much CPU time the thread had used when it was first asked after the last one. */
  #answers = 0;
  #cpu: { readonly answers: number; readonly ms: number } | undefined;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  get isForSuspects(): boolean {
    return this.#options.isForSuspects;
  }

  get running(): number {
    return this.#jobs.length;
  }

  run(job: Job): void {
    this.#jobs.push(job);
    const { owner: _owner, ...run } = job.run;
    this.#worker ??= this.#start();
    this.#worker.postMessage(run);
    this.#timer ??= setInterval(() => {
      void this.#endIfStuck();
    }, ticksMs);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#jobs = [];
    const worker = this.#worker;
    worker?.removeAllListeners();
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      // Its console would be that of the service.
      stdout: true,
      stderr: true,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 },
    });
    worker.unref();
    this.#isReady = false;
    this.#isEnding = false;
    this.#cpu = undefined;
    worker.on('message', (result: TransformResult | typeof ready) => {
      if (result === ready) {
        this.#isReady = true;
        return;
      }
      const job = this.#jobs.shift();
      this.#answers += 1;
      this.#stopIfIdle();
      if (job) this.#options.onResult(job, result);
    });
    const ended = (): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      const jobs = this.#jobs;
      this.#jobs = [];
      this.#stopIfIdle();
      this.#options.onEnded(jobs);
    };
    worker.on('error', ended);
    worker.on('exit', ended);
    return worker;
  }

  /** Counts CPU time of the thread, so that a busy machine ends no run. */
  async #endIfStuck(): Promise<void> {
    const worker = this.#worker;
    const answers = this.#answers;
    if (!worker || !this.#isReady || this.#isEnding) return;
    // Rejects where the thread ends meanwhile.
    const used = await worker.cpuUsage().catch(() => undefined);
    if (!used || this.#isEnding || worker !== this.#worker || answers !== this.#answers) return;
    const ms = (used.user + used.system) / 1_000;
    if (this.#cpu?.answers !== answers) this.#cpu = { answers, ms };
    if (ms - this.#cpu.ms < this.#options.stuckAfterMs) return;
    this.#isEnding = true;
    await worker.terminate();
  }

  #stopIfIdle(): void {
    if (this.#jobs.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#cpu = undefined;
  }
}
