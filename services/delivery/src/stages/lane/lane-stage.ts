/** The third stage: a delivery waits for its turn in the lane of its destination. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Destination } from '@tailrace/config';
import type { TopicNames } from '@tailrace/topology';
import type { Sender } from '@tailrace/webhook';
import type { Lanes } from './lanes.ts';
import type { Task } from './task.ts';
import { openTargets, type Job } from '../../delivery.ts';
import type { Policies } from '../../receivers/policies.ts';
import type { Receivers } from '../../receivers/receivers.ts';
import type { Settle } from '../../settle/settle.ts';
import type { AttemptStage } from '../attempt/attempt-stage.ts';

export interface LaneStageDependencies {
  readonly names: Pick<TopicNames, 'deliveriesReplay'>;
  readonly lanes: Pick<Lanes, 'submit' | 'paused'>;
  readonly receivers: Receivers;
  readonly sender: Pick<Sender, 'prepare'>;
  readonly attempt: Pick<AttemptStage, 'make'>;
  readonly settle: Pick<Settle, 'apply'>;
  readonly policies: Pick<Policies, 'of'>;
}

export class LaneStage {
  readonly #deps: LaneStageDependencies;
  /** Settles when one more delivery of the background may begin. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(dependencies: LaneStageDependencies) {
    this.#deps = dependencies;
  }

  /** While lanes are paused nothing can be committed, so nothing is written, and the delivery waits for a turn first. */
  isPaused(destination: Destination | undefined): boolean {
    return destination?.paused === true && destination.enabled && !this.#deps.lanes.paused;
  }

  submit(job: Job, destination: Destination | undefined): void {
    const { work, delivery } = job;
    if (work.revoked) return;
    const { names, lanes, receivers, sender, settle, attempt, policies } = this.#deps;
    if (!lanes.paused && receivers.isOfDeletedUser(job)) {
      settle.apply(job, { kind: 'over', reason: 'user-deleted' });
      return;
    }
    if (!lanes.paused && delivery.transformFailure !== undefined) {
      settle.apply(job, { kind: 'over', reason: 'transform-failed' });
      return;
    }
    if (this.isPaused(destination)) {
      settle.apply(job, { kind: 'paused' });
      return;
    }
    if (destination?.enabled && !lanes.paused) {
      const open = openTargets(delivery, destination);
      if (receivers.isDown(delivery, open)) {
        // Parking sends nothing to the receiver, so it needs no turn.
        settle.apply(job, receivers.claimProbe(delivery, open, policies.of(destination).windowMs));
        return;
      }
    }
    const { destinationId, body, dueAt } = delivery;
    // A retry of a replay has left its topic. Earlier releases wrote no time of the event.
    const { replayedFrom, eventAcceptedAt } = delivery;
    const isReplayed =
      (replayedFrom ?? eventAcceptedAt) !== undefined || work.topic === names.deliveriesReplay;
    const traffic = (job.background ?? isReplayed) ? 'background' : 'live';
    const task: Task = {
      traffic,
      returned: dueAt !== undefined,
      bytes: body.length,
      get requests() {
        return receivers.known(delivery)?.settings.webhooks.length ?? 1;
      },
      get revoked() {
        return work.revoked;
      },
      since: performance.now(),
      run: async (heldBy) => {
        // Those of a replay arrive together. Live ones that arrive meanwhile wait for one of them at most.
        if (traffic === 'background') await (this.#turn = this.#turn.then(() => nextTurn()));
        const tokenServer = receivers.tokenServerOf(delivery);
        const withoutToken = tokenServer && (await sender.prepare(tokenServer));
        const found = await receivers.find(delivery);
        if (!lanes.paused) return attempt.make(job, found, heldBy, withoutToken);
        // One of them has taken long, and what is started now could not be committed.
        this.submit(job, found);
        return { signal: 'none' };
      },
      defer: (deferral) => settle.apply(job, deferral),
    };
    lanes.submit(destinationId, task);
  }
}
