/**
 * Defect: a consumer that is stopped while it follows a change of the brokers never ends, and stops its process. When the fetches of the
 * brokers before have ended, the library begins with the new ones, although the consumer was stopped meanwhile. A stopped consumer fetches
 * nothing, so that these fetches follow each other within one turn of the event loop: no timer fires and no signal arrives any more.
 *
 * Upstream: no issue found; tulios/kafkajs#1384 was another way into such a loop.
 *
 * Patch: where the consumer was stopped, a fetch ends all that the library repeats.
 */
import { replacing, type LibraryClass } from '../apply.ts';

/** The library's class that runs a consumer: the members that are used here. */
interface Runner {
  readonly running: boolean;
  /** Repeats the fetches of each broker. */
  readonly fetchManager: { stop(): Promise<void> };
  fetch(nodeId: string): Promise<unknown>;
}

export const stoppedFetch = replacing(
  'consumer/runner',
  (Original: LibraryClass<Runner>): LibraryClass<Runner> =>
    class RunnerThatEnds extends Original {
      override fetch(nodeId: string): Promise<unknown> {
        if (!this.running) void this.fetchManager.stop();
        return super.fetch(nodeId);
      }
    },
);
