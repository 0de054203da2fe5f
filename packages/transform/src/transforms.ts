/**
 * Runs transforms in threads, so that none holds up the event loop of its service.
 *
 * Sources take turns by the CPU time of their runs (deficit round robin, paid afterwards), so that the events of one do not wait for the
 * flood of another. In the turn of a source its owners take turns, one run each. The runs of an owner for a source are made in their order.
 *
 * A run that uses too much CPU time is ended in its thread. One that does not even end then, inside a function of QuickJS that takes long,
 * ends with its thread. After a run that was too long its owner is a suspect, until a number of runs in a row have ended in time. So a script
 * costs the others one run, and then shares a thread with suspects alone.
 *
 * Suspects do not wait for each other for long, because what waits is not committed: what would is not run, and fails.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { ready, type TransformResult, type TransformRun } from './run.ts';

/** Whose turn it is. */
interface Source {
  readonly id: string;
  /** By owner. */
  readonly queues: Map<string, Queue>;
  /** The milliseconds that are left of its turn. Negative where its runs have used more. */
  left: number;
}

/** The runs of an owner for a source. */
interface Queue {
  readonly owner: string;
  readonly source: Source;
  readonly waiting: Job[];
  /** The thread that has runs of it. */
  thread: Thread | undefined;
  running: number;
  /** CPU time of its latest run. */
  latestMs: number;
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
  readonly queue: Queue;
  readonly since: number;
  readonly end: (result: TransformResult) => void;
}

/** Threads, and what waits for them. */
interface Crew {
  readonly threads: readonly Thread[];
  /** Sources in the order of their turns, each with its queues in that of theirs. */
  readonly turns: Map<Source, Set<Queue>>;
}

export interface TransformsOptions {
  /** Threads beside that of suspects. Default: half of the processors, 4 at most. */
  readonly threads?: number;
  /** How much CPU time a run may take before its thread is ended. Default 500 ms. */
  readonly stuckAfterMs?: number;
  /** Called where a thread has ended. */
  readonly onThreadEnded?: () => void;
}

/** Sent ahead to a thread, so that it does not wait for the event loop of the service between two runs; fewer of slow ones. */
const ahead = { runs: 4, ms: 4 };
/** Of one turn of a source. */
const quantumMs = 1;
/** What a run costs beside its CPU time: the event loop of the service, and at times the script is loaded. */
const runCostMs = 0.1;
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
  readonly #sources = new Map<string, Source>();
  /** By owner. */
  readonly #suspicions = new Map<string, Suspicion>();
  readonly #forTrusted: Crew;
  readonly #forSuspects: Crew;
  readonly #stuckAfterMs: number;
  #isClosed = false;

  constructor({
    threads = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2))),
    stuckAfterMs = 500,
    onThreadEnded = () => undefined,
  }: TransformsOptions = {}) {
    this.#stuckAfterMs = stuckAfterMs;
    const newThread = (): Thread =>
      new Thread({
        stuckAfterMs,
        onResult: (job, result) => {
          this.#ended(job, result);
        },
        onEnded: (jobs, stuckJob) => {
          onThreadEnded();
          this.#threadEnded(jobs, stuckJob);
        },
      });
    this.#forTrusted = { threads: Array.from({ length: threads }, newThread), turns: new Map() };
    this.#forSuspects = { threads: [newThread()], turns: new Map() };
  }

  /** Never rejects. After {@link close} it does not settle. */
  run(run: TransformRun): Promise<TransformResult> {
    return new Promise((end) => {
      const queue = this.#queueOf(run);
      queue.waiting.push({ run, queue, since: performance.now(), end });
      this.#wait(queue);
      this.#fill();
    });
  }

  /** Whether the latest runs of the owner have taken too long. */
  isSuspect(owner: string): boolean {
    return this.#suspicions.has(owner);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#crews.flatMap(({ threads }) => threads.map((thread) => thread.close())));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #crews(): readonly Crew[] {
    return [this.#forTrusted, this.#forSuspects];
  }

  #queueOf({ owner, source: id = owner }: TransformRun): Queue {
    let source = this.#sources.get(id);
    if (!source) {
      source = { id, queues: new Map(), left: quantumMs };
      this.#sources.set(id, source);
    }
    let queue = source.queues.get(owner);
    if (!queue) {
      queue = { owner, source, waiting: [], thread: undefined, running: 0, latestMs: 0 };
      source.queues.set(owner, queue);
    }
    return queue;
  }

  #wait(queue: Queue): void {
    const { turns } = this.isSuspect(queue.owner) ? this.#forSuspects : this.#forTrusted;
    turns.set(queue.source, (turns.get(queue.source) ?? new Set<Queue>()).add(queue));
  }

  #leave(queue: Queue): void {
    for (const { turns } of this.#crews) {
      const queues = turns.get(queue.source);
      if (queues?.delete(queue) && queues.size === 0) turns.delete(queue.source);
    }
  }

  #fill(): void {
    if (this.#isClosed) return;
    for (const { threads, turns } of this.#crews) {
      for (const [source, queues] of turns) {
        const free = threads.filter((thread) => !isFull(thread));
        if (free.length === 0) break;
        const queue = firstFor(free, queues);
        if (!queue) continue;
        // Its next turn is the last one of this loop.
        turns.delete(source);
        turns.set(source, queues);
        if (source.left <= 0) source.left += quantumMs;
        else this.#start(queue, queue.thread ?? leastBusy(free));
      }
    }
  }

  #start(queue: Queue, thread: Thread): void {
    const job = queue.waiting.shift();
    this.#leave(queue);
    if (queue.waiting.length > 0) this.#wait(queue);
    const failure = job && failureBefore(job, this.#suspicions.get(queue.owner));
    if (failure) {
      this.#forgetIfIdle(queue);
      job.end(failure);
    } else if (job) {
      queue.thread = thread;
      queue.running += 1;
      thread.run(job);
    }
  }

  #ended({ run, queue, end }: Job, result: TransformResult): void {
    this.#left(queue);
    queue.latestMs = result === stuck ? this.#stuckAfterMs : result.cpuMs;
    queue.source.left -= runCostMs + queue.latestMs;
    this.#suspect(queue.owner, suspicionAfter(this.#suspicions.get(queue.owner), run.code, result));
    this.#forgetIfIdle(queue);
    end(result);
    this.#fill();
  }

  #suspect(owner: string, suspicion: Suspicion | undefined): void {
    const before = this.isSuspect(owner);
    if (suspicion) this.#suspicions.set(owner, suspicion);
    else this.#suspicions.delete(owner);
    if (before === this.isSuspect(owner)) return;
    for (const { queues } of this.#sources.values()) {
      const queue = queues.get(owner);
      if (!queue || queue.waiting.length === 0) continue;
      this.#leave(queue);
      this.#wait(queue);
    }
  }

  #left(queue: Queue): void {
    queue.running -= 1;
    if (queue.running === 0) queue.thread = undefined;
  }

  #forgetIfIdle({ owner, source, running, waiting }: Queue): void {
    if (running > 0 || waiting.length > 0) return;
    source.queues.delete(owner);
    if (source.queues.size === 0) this.#sources.delete(source.id);
  }

  /** The jobs that it has not answered are run again, but not the one that has ended it. */
  #threadEnded(jobs: readonly Job[], stuckJob: Job | undefined): void {
    for (const job of jobs.toReversed()) {
      if (job === stuckJob) continue;
      this.#left(job.queue);
      job.queue.waiting.unshift(job);
      this.#wait(job.queue);
    }
    if (stuckJob) this.#ended(stuckJob, stuck);
    else this.#fill();
  }
}

/** What is sent to another thread before the earlier runs have ended would overtake them. */
function firstFor(free: readonly Thread[], queues: Iterable<Queue>): Queue | undefined {
  for (const queue of queues) if (!queue.thread || free.includes(queue.thread)) return queue;
  return undefined;
}

function leastBusy(threads: readonly Thread[]): Thread {
  return threads.reduce((least, thread) => (thread.running < least.running ? thread : least));
}

function isFull({ running, expectedMs }: Thread): boolean {
  return running >= ahead.runs || expectedMs >= ahead.ms;
}

/** Why it is not run, if it is not. */
function failureBefore(
  { run: { code }, since }: Job,
  suspicion: Suspicion | undefined,
): TransformResult | undefined {
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

  get running(): number {
    return this.#jobs.length;
  }

  /** What it has to do, as far as earlier runs show. */
  get expectedMs(): number {
    return this.#jobs.reduce((sum, { queue }) => sum + queue.latestMs, 0);
  }

  run(job: Job): void {
    this.#jobs.push(job);
    const { owner: _owner, source: _source, ...run } = job.run;
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
