/** The tasks that wait in a lane. Those of the background have a share of the turns, and never the whole lane. */
import type { Amount } from './budget.ts';
import { TaskQueue } from './queue.ts';
import type { Task, Traffic } from './task.ts';

/** While live tasks wait, every so many tasks one is from the background. */
const backgroundEvery = 4;

export class WaitingTasks {
  readonly #queues = { live: new TaskQueue(), background: new TaskQueue() };
  #liveSinceBackground = 0;

  get count(): number {
    return this.#queues.live.count + this.#queues.background.count;
  }

  of(traffic: Traffic): Amount {
    return this.#queues[traffic];
  }

  /** The requests of the next live task. */
  get requests(): number {
    return this.#queues.live.first?.requests ?? 1;
  }

  push(task: Task): void {
    this.#queues[task.traffic].push(task);
  }

  /** @param mayUseBackground whether one more task of the background may be in flight */
  next(mayUseBackground: boolean): Task | undefined {
    return this.#queues[this.#turn(mayUseBackground)].first;
  }

  takeNext(mayUseBackground: boolean): Task | undefined {
    const traffic = this.#turn(mayUseBackground);
    const task = this.#queues[traffic].takeFirst();
    if (task) this.#liveSinceBackground = traffic === 'live' ? this.#liveSinceBackground + 1 : 0;
    return task;
  }

  takeLast(traffic: Traffic): Task | undefined {
    return this.#queues[traffic].takeLast();
  }

  /** Takes all tasks of revoked partitions. */
  takeRevoked(): readonly Task[] {
    return [...this.#queues.live.takeRevoked(), ...this.#queues.background.takeRevoked()];
  }

  #turn(mayUseBackground: boolean): Traffic {
    const { live, background } = this.#queues;
    if (!mayUseBackground || background.count === 0) return 'live';
    return live.count === 0 || this.#liveSinceBackground >= backgroundEvery - 1 ? 'background' : 'live';
  }
}
