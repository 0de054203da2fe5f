/** A thread that runs scripts, one after the other, and is ended where a run does not end. */
import { Worker } from 'node:worker_threads';
import { ready, type TransformResult, type TransformRun } from './run.ts';

const ticksMs = 100;
/** Until a thread that has not started is started again. */
const restartMs = 1_000;

export interface ThreadJob {
  readonly run: TransformRun;
  /** `latestMs` is the CPU time of the latest run of the same kind. */
  readonly queue: { readonly latestMs: number };
}

interface ThreadOptions<Job> {
  readonly stuckAfterMs: number;
  readonly onResult: (job: Job, result: TransformResult) => void;
  /** Called with the jobs that it has not answered, in their order, and the one of them that has ended it. */
  readonly onEnded: (jobs: readonly Job[], stuckJob: Job | undefined) => void;
}

/** A thread, which starts with its first run and again where it has ended. */
export class Thread<Job extends ThreadJob> {
  readonly #options: ThreadOptions<Job>;
  #worker: Worker | undefined;
  #isReady = false;
  /** For which it is being ended. */
  #stuckJob: Job | undefined;
  #jobs: Job[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Counts answers, and how much CPU time the thread had used when it was first asked after the last one. */
  #answers = 0;
  #cpu: { readonly answers: number; readonly ms: number } | undefined;

  constructor(options: ThreadOptions<Job>) {
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
