/** Measures for how long something was the case, in total. */
export class Stopwatch {
  #totalMs = 0;
  #since: number | undefined;

  /** Has no effect while it runs. */
  start(): void {
    this.#since ??= performance.now();
  }

  stop(): void {
    this.#totalMs = this.elapsedMs;
    this.#since = undefined;
  }

  /** Includes the time since `start()` while it runs. */
  get elapsedMs(): number {
    return this.#totalMs + (this.#since === undefined ? 0 : performance.now() - this.#since);
  }
}
