/**
 * Runs transforms in threads, so that none holds up the event loop of its service.
 *
 * Sources take turns by the CPU time of their runs (deficit round robin, paid afterwards), so that the events of one do not wait for the
 * flood of another. In the turn of a source its owners take turns, one run each. The runs of an owner for a source are made in their order.
 *
 * A run that uses too much CPU time is ended in its thread. One that does not even end then, inside a function of QuickJS that takes long,
 * ends with its thread. Its owner is a suspect then (suspicion.ts). So a script costs the others one run, and then shares a thread with
 * suspects alone.
 */
import { availableParallelism } from 'node:os';
import type { TransformResult, TransformRun } from './run.ts';
import { failureBefore, stuck, suspicionAfter, type Suspicion } from './suspicion.ts';
import { Thread } from './thread.ts';

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
  thread: Thread<Job> | undefined;
  running: number;
  /** CPU time of its latest run. */
  latestMs: number;
}

interface Job {
  readonly run: TransformRun;
  readonly queue: Queue;
  readonly since: number;
  readonly end: (result: TransformResult) => void;
}

/** Threads, and what waits for them. */
interface Crew {
  readonly threads: readonly Thread<Job>[];
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
    const newThread = (): Thread<Job> =>
      new Thread<Job>({
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

  #start(queue: Queue, thread: Thread<Job>): void {
    const job = queue.waiting.shift();
    this.#leave(queue);
    if (queue.waiting.length > 0) this.#wait(queue);
    const failure = job && failureBefore(this.#suspicions.get(queue.owner), job.run.code, job.since);
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
function firstFor(free: readonly Thread<Job>[], queues: Iterable<Queue>): Queue | undefined {
  for (const queue of queues) if (!queue.thread || free.includes(queue.thread)) return queue;
  return undefined;
}

function leastBusy(threads: readonly Thread<Job>[]): Thread<Job> {
  return threads.reduce((least, thread) => (thread.running < least.running ? thread : least));
}

function isFull({ running, expectedMs }: Thread<Job>): boolean {
  return running >= ahead.runs || expectedMs >= ahead.ms;
}
