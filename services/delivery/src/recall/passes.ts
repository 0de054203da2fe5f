/** Schedules the passes of recalls: several recalls share one, and only a few passes run at the same time. */
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import type { Log } from '@tailrace/service';
import { readTiers, type PassOptions } from './pass.ts';
import type { Recall } from './recall.ts';

export interface PassesDependencies extends PassOptions {
  readonly log: Pick<Log, 'warn'>;
}

/** Passes at the same time. Each reads the retry topics, with up to 8 MB in flight. */
const mostPasses = 3;
const mostInPass = 100;
const retryPauseMs = 1_000;

export class Passes {
  readonly #deps: PassesDependencies;
  #unread: Recall[] = [];
  #running = 0;
  #stopped = false;

  constructor(dependencies: PassesDependencies) {
    this.#deps = dependencies;
  }

  add(recall: Recall): void {
    this.#unread.push(recall);
    this.#start();
  }

  remove(recall: Recall): void {
    this.#unread = this.#unread.filter((other) => other !== recall);
  }

  stop(): void {
    this.#stopped = true;
  }

  #start(): void {
    while (this.#running < mostPasses && !this.#stopped) {
      const [first, ...others] = this.#unread;
      if (!first) return;
      const shared =
        first.pass === 'alone' ? [] : others.filter(({ pass }) => pass === 'shared').slice(0, mostInPass - 1);
      const recalls = [first, ...shared];
      this.#unread = this.#unread.filter((recall) => !recalls.includes(recall));
      this.#running += 1;
      void this.#read(recalls);
    }
  }

  async #read(recalls: readonly Recall[]): Promise<void> {
    try {
      await readTiers(this.#deps, recalls);
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      this.#deps.log.warn({ err: error }, 'reading retry topics for a recall failed, retrying');
      await wait(retryPauseMs, undefined, { ref: false });
    }
    this.#running -= 1;
    if (this.#stopped) return;
    for (const recall of recalls) recall.passEnded();
    this.#start();
  }
}
