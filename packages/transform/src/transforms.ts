/**
 * Runs transforms in threads, so that none holds up the event loop of its service.
 *
 * Owners take turns, one run each, and the runs of an owner are made in their order. A run that uses too much CPU time is ended in its
 * thread. One that does not even end then, inside a function of QuickJS that takes long, ends with its thread. After a run that was too long
 * its owner is a suspect, until a number of runs in a row have ended in time. So a script costs the others one run, and then shares a thread
 * with suspects alone.
 *
 * Suspects do not wait for each other for long, because what waits is not committed: what would is not run, and fails.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { ready, type TransformResult, type TransformRun } from './run.ts';

/** What an owner waits for. */
interface Owner {
  readonly id: string;
  readonly waiting: Job[];
  /** The thread that has runs of it. */
  thread: Thread | undefined;
  running: number;
  /** Undefined where it is trusted. */
  suspicion: Suspicion | undefined;
}

/** Why an owner is a suspect. */
interface Suspicion {
  /** The script of its latest run. */
  readonly code: string;
  /** How many runs of that in a row have ended in time. */
  readonly inTime: number;
  /** By how many more runs have not. */
  readonly late: number;
  /** How many have to end in time. */
  readonly runsToTrust: number;
  /** It is not run before. */
  readonly restsUntil: number;
}

interface Job {
  readonly run: TransformRun;
  readonly owner: Owner;
  readonly since: number;
  readonly end: (result: TransformResult) => void;
}

export interface TransformsOptions {
  /** Threads beside that of suspects. Default: half of the processors, 4 at most. */
  readonly threads?: number;
  /** How much CPU time a run may take before its thread is ended. Default 500 ms. */
  readonly stuckAfterMs?: number;
  /** Called where a thread has ended. */
  readonly onThreadEnded?: () => void;
}

/** Sent ahead to a thread, so that it does not wait for the event loop of the service between two runs. */
const ahead = 4;
/** In time and in a row; after one that was so long that it has held up others. */
const runsToTrust = 20;
const runsToTrustAfterHarm = 1_000;
/** So many more late runs than others are made before an owner rests. */
const lateRunsToRest = 10;
/** For so many times as long as its latest run has taken, so that suspects use a small part of a processor. */
const restTimes = 100;
const longestRestMs = 60_000;
const longestWaitOfSuspectMs = 10_000;
const ticksMs = 100;
/** Until a thread that has not started is started again. */
const restartMs = 1_000;

export class Transforms {
  readonly #owners = new Map<string, Owner>();
  /** Owners with runs that wait, in the order of their turns. */
  readonly #turns = new Set<Owner>();
  readonly #threads: readonly Thread[];
  #isClosed = false;

  constructor({
    threads = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2))),
    stuckAfterMs = 500,
    onThreadEnded = () => undefined,
  }: TransformsOptions = {}) {
    const newThread = (isForSuspects: boolean): Thread =>
      new Thread({
        isForSuspects,
        stuckAfterMs,
        onResult: (job, result) => {
          this.#ended(job, result);
        },
        onEnded: (jobs, stuckJob) => {
          onThreadEnded();
          this.#threadEnded(jobs, stuckJob);
        },
      });
    this.#threads = [...Array.from({ length: threads }, () => newThread(false)), newThread(true)];
  }

  /** Never rejects. After {@link close} it does not settle. */
  run(run: TransformRun): Promise<TransformResult> {
    return new Promise((end) => {
      const { owner: id } = run;
      let owner = this.#owners.get(id);
      if (!owner) {
        owner = { id, waiting: [], thread: undefined, running: 0, suspicion: undefined };
        this.#owners.set(id, owner);
      }
      owner.waiting.push({ run, owner, since: performance.now(), end });
      this.#turns.add(owner);
      this.#fill();
    });
  }

  /** Whether the latest runs of the owner have taken too long. */
  isSuspect(id: string): boolean {
    return this.#owners.get(id)?.suspicion !== undefined;
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
      const [job] = owner.waiting;
      const failure = job && failureBefore(job);
      const forSuspects = owner.suspicion !== undefined;
      const thread = owner.thread ?? this.#leastBusy(forSuspects);
      // What is sent to another thread before the earlier runs have ended would overtake them.
      if (!failure && (thread.isForSuspects !== forSuspects || isFull(thread))) continue;
      owner.waiting.shift();
      this.#turns.delete(owner);
      if (owner.waiting.length > 0) this.#turns.add(owner);
      if (failure) job.end(failure);
      else if (job) {
        owner.thread = thread;
        owner.running += 1;
        thread.run(job);
      }
    }
  }

  #leastBusy(forSuspects: boolean): Thread {
    const able = this.#threads.filter(({ isForSuspects }) => isForSuspects === forSuspects);
    return able.reduce((least, thread) => (thread.running < least.running ? thread : least));
  }

  #ended({ run, owner, end }: Job, result: TransformResult): void {
    this.#left(owner);
    owner.suspicion = suspicionAfter(owner.suspicion, run.code, result);
    if (owner.running === 0 && owner.waiting.length === 0 && !owner.suspicion) this.#owners.delete(owner.id);
    end(result);
    this.#fill();
  }

  #left(owner: Owner): void {
    owner.running -= 1;
    if (owner.running === 0) owner.thread = undefined;
  }

  /** The jobs that it has not answered are run again, but not the one that has ended it. */
  #threadEnded(jobs: readonly Job[], stuckJob: Job | undefined): void {
    for (const job of jobs.toReversed()) {
      if (job === stuckJob) continue;
      this.#left(job.owner);
      job.owner.waiting.unshift(job);
      this.#turns.add(job.owner);
    }
    if (stuckJob) this.#ended(stuckJob, stuck);
    else this.#fill();
  }
}

function isFull({ running }: Thread): boolean {
  return running >= ahead;
}

/** Why it is not run, if it is not. */
function failureBefore({ run: { code }, owner: { suspicion }, since }: Job): TransformResult | undefined {
  if (!suspicion) return undefined;
  const now = performance.now();
  if (suspicion.code === code && now < suspicion.restsUntil) return resting;
  return now - since > longestWaitOfSuspectMs ? waited : undefined;
}

function notRun(message: string): TransformResult {
  return { outcome: 'failed', error: { message }, cpuMs: 0, logs: [] };
}

const resting = notRun('The function was not run, because its latest runs used too much CPU time.');
const waited = notRun('The function was not run, because it and others like it use too much CPU time.');
const stuck: TransformResult = {
  outcome: 'failed',
  error: { message: 'The function did not end, and its thread was ended.', isTooLong: true, isHarmful: true },
  cpuMs: 0,
  logs: [],
};

/** After a run of this script. */
function suspicionAfter(
  before: Suspicion | undefined,
  code: string,
  result: TransformResult,
): Suspicion | undefined {
  const same = before?.code === code ? before : { inTime: 0, late: 0, runsToTrust };
  const { isTooLong = false, isHarmful = false } = result.outcome === 'failed' ? result.error : {};
  if (isTooLong) {
    const late = same.late + 1;
    const rest = late < lateRunsToRest ? 0 : Math.min(longestRestMs, result.cpuMs * restTimes);
    const restsUntil = performance.now() + (result === stuck ? longestRestMs : rest);
    return {
      code,
      inTime: 0,
      late,
      runsToTrust: isHarmful ? runsToTrustAfterHarm : same.runsToTrust,
      restsUntil,
    };
  }
  const inTime = same.inTime + 1;
  if (!before || inTime >= same.runsToTrust) return undefined;
  return { code, inTime, late: Math.max(0, same.late - 1), runsToTrust: same.runsToTrust, restsUntil: 0 };
}

interface ThreadOptions {
  readonly isForSuspects: boolean;
  readonly stuckAfterMs: number;
  readonly onResult: (job: Job, result: TransformResult) => void;
  /** Called with the jobs that it has not answered, in their order, and the one of them that has ended it. */
  readonly onEnded: (jobs: readonly Job[], stuckJob: Job | undefined) => void;
}

/** A thread, which starts with its first run and again where it has ended. */
class Thread {
  readonly #options: ThreadOptions;
  #worker: Worker | undefined;
  #isReady = false;
  /** For which it is being ended. */
  #stuckJob: Job | undefined;
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
      resourceLimits: { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 4 },
    });
    worker.unref();
    this.#isReady = false;
    this.#stuckJob = undefined;
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
    // An exit follows.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      if (this.#isReady) this.#ended();
      else setTimeout(() => this.#ended(), restartMs).unref();
    });
    return worker;
  }

  /** Counts CPU time of the thread, so that a busy machine ends no run. */
  async #endIfStuck(): Promise<void> {
    const worker = this.#worker;
    const answers = this.#answers;
    if (!worker || !this.#isReady || this.#stuckJob) return;
    let used: NodeJS.CpuUsage;
    try {
      used = await worker.cpuUsage();
    } catch {
      // It has ended meanwhile.
      return;
    }
    if (worker !== this.#worker || answers !== this.#answers) return;
    const ms = (used.user + used.system) / 1_000;
    if (this.#cpu?.answers !== answers) this.#cpu = { answers, ms };
    if (ms - this.#cpu.ms < this.#options.stuckAfterMs) return;
    this.#stuckJob = this.#jobs[0];
    await worker.terminate();
  }

  #ended(): void {
    this.#worker = undefined;
    const jobs = this.#jobs;
    this.#jobs = [];
    this.#stopIfIdle();
    // Where nothing has ended it, it was in the first job; where it had not started, in none.
    const last = this.#isReady ? (this.#stuckJob ?? jobs[0]) : undefined;
    this.#options.onEnded(
      jobs,
      jobs.find((job) => job === last),
    );
  }

  #stopIfIdle(): void {
    if (this.#jobs.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#cpu = undefined;
  }
}
