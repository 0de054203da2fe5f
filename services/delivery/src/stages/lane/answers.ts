/** What the answers of a receiver show about it: how long they take, and how many of them are none. */
import type { Signal } from './task.ts';

/** The weight of the latest task in all averages. */
const weight = 0.1;
/** The failing share beyond which a receiver is slowed down, does not keep up, and is not quick. */
const mostlyFailing = 0.8;
/** An average answer within this is quick. */
const quickMs = 1_000;

/** Durations are milliseconds. */
export class Answers {
  /** Average duration of a task. */
  taskMs = 0;
  /** Average duration of the tasks that were answered. */
  #answeredMs = 0;
  /** Whether the last request timed out. */
  timedOut = false;
  /**
   * Two averages, because they answer different questions. `#badShare` counts everything but an answer, also timeouts and
   * 429s, and knows whether any task has ended: it decides the standing. `#failedShare` counts failures only and starts
   * at 0: it decides whether a failure shrinks the lane, which a single failure or a 429 before it must not.
   */
  #badShare: number | undefined;
  #failedShare = 0;

  /** Whether no task has ended yet. */
  get isNew(): boolean {
    return this.#badShare === undefined;
  }

  get isMostlyBad(): boolean {
    return (this.#badShare ?? 0) > mostlyFailing;
  }

  get isQuick(): boolean {
    return !this.isNew && !this.isMostlyBad && !this.timedOut && this.#answeredMs <= quickMs;
  }

  get isMostlyFailing(): boolean {
    return this.#failedShare > mostlyFailing;
  }

  count(signal: Exclude<Signal, 'none'>, tookMs: number): void {
    this.taskMs = average(this.taskMs, tookMs);
    const isAnswered = signal === 'quick' || signal === 'steady';
    if (isAnswered) this.#answeredMs = average(this.#answeredMs, tookMs);
    const bad = isAnswered ? 0 : 1;
    this.#badShare = this.#badShare === undefined ? bad : average(this.#badShare, bad);
    this.timedOut = signal === 'overloaded';
    this.#failedShare = average(this.#failedShare, signal === 'failed' ? 1 : 0);
  }
}

function average(before: number, latest: number): number {
  return before + (latest - before) * weight;
}
