/** The waiting tasks of a lane, first in, first out. */
import type { Task } from './task.ts';

export class TaskQueue {
  /** Those before `#head` have been taken. None of them is kept: with a task goes everything that was fetched with it. */
  #tasks: (Task | undefined)[] = [];
  #head = 0;
  #bytes = 0;

  get count(): number {
    return this.#tasks.length - this.#head;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get first(): Task | undefined {
    return this.#tasks[this.#head];
  }

  push(task: Task): void {
    this.#tasks.push(task);
    this.#bytes += task.bytes;
  }

  takeFirst(): Task | undefined {
    const task = this.first;
    if (!task) return undefined;
    this.#tasks[this.#head] = undefined;
    this.#head += 1;
    this.#bytes -= task.bytes;
    // Removing the first item of an array is slow, so their places are removed many at a time.
    if (this.count === 0 || (this.#head >= 256 && this.#head * 2 >= this.#tasks.length)) {
      this.#tasks.splice(0, this.#head);
      this.#head = 0;
    }
    return task;
  }

  takeLast(): Task | undefined {
    if (this.count === 0) return undefined;
    const task = this.#tasks.pop();
    if (task) this.#bytes -= task.bytes;
    return task;
  }

  /** Removes and returns all tasks whose partition was revoked. */
  takeRevoked(): readonly Task[] {
    const waiting = this.#tasks.slice(this.#head).filter((task) => task !== undefined);
    const revoked = waiting.filter((task) => task.revoked);
    if (revoked.length > 0) {
      this.#tasks = waiting.filter((task) => !task.revoked);
      this.#head = 0;
      for (const { bytes } of revoked) this.#bytes -= bytes;
    }
    return revoked;
  }
}
