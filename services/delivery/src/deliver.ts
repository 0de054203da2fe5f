/**
 * The loop of the delivery service: a record is taken off its topic, waits until it is due, waits for its turn
 * in its destination's lane, is attempted once at every URL still open, and ends in one of three ways. Only
 * when it is delivered, or when Kafka has acknowledged its successor (in a tier, or among the dead letters), is
 * the record finished, and its offset may be committed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigView, Destination } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import type { Publisher, TrackedRecord } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import {
  decodeDelivery,
  encodeDelivery,
  type AttemptRecord,
  type Delivery,
  type TopicNames,
  type UrlAttempt,
} from '@tailrace/topics';
import { decide, type RetryPolicy } from './decide.ts';
import { Lanes, type LaneLimits } from './lanes.ts';
import type { Answer, DeadReason, Outcome } from './outcome.ts';
import type { Sender } from './send.ts';
import { requestHeaders, targetsOf, type Target } from './target.ts';
import { DueTimes, WaitingRoom } from './tiers.ts';

export interface DelivererDependencies {
  readonly names: TopicNames;
  readonly config: ConfigView;
  readonly sender: Sender;
  /** For what must not be lost: retries and dead letters. */
  readonly publisher: Publisher;
  /** For the record of attempts, which nobody waits for. */
  readonly attemptPublisher: Publisher;
  readonly policy: RetryPolicy;
  readonly limits: LaneLimits;
  readonly observer: DeliveryObserver;
  readonly log: Log;
  readonly now?: () => number;
}

/** What is worth measuring. */
export interface DeliveryObserver {
  /** An attempt begins, this long after it was due; `first` where it is the delivery's first. */
  started(event: { readonly latenessMs: number; readonly first: boolean }): void;
  attempted(attempt: AttemptRecord): void;
  died(destinationId: string, reason: DeadReason): void;
}

const refreshPauseMs = 1_000;

interface Job {
  readonly record: TrackedRecord;
  readonly delivery: Delivery;
}

export class Deliverer {
  readonly #deps: DelivererDependencies;
  readonly #now: () => number;
  readonly #lanes: Lanes;
  readonly #dueTimes = new DueTimes();
  readonly #waitingRoom: WaitingRoom<Job>;

  constructor(dependencies: DelivererDependencies) {
    this.#deps = dependencies;
    this.#now = dependencies.now ?? Date.now;
    this.#lanes = new Lanes(dependencies.limits);
    this.#waitingRoom = new WaitingRoom((job) => {
      this.#enqueue(job);
    }, this.#now);
  }

  get waiting(): number {
    return this.#waitingRoom.size;
  }

  get inFlight(): number {
    return this.#lanes.running;
  }

  /** Takes a record of `deliveries`, a tier or the replay lane. */
  take(record: TrackedRecord): void {
    const delivery = decodeDelivery(record);
    if (typeof delivery === 'string') {
      void this.#buryMalformed(record, delivery);
      return;
    }
    const job = { record, delivery };
    if (delivery.dueAt !== undefined && delivery.dueAt > this.#now()) {
      this.#waitingRoom.hold(job, delivery.dueAt);
    } else {
      this.#enqueue(job);
    }
  }

  /** Hands back what has not been attempted, and resolves when what is in flight has ended. */
  async stop(): Promise<void> {
    this.#waitingRoom.clear();
    await this.#lanes.drain();
  }

  #enqueue(job: Job): void {
    this.#lanes.submit(job.delivery.destinationId, () => this.#deliver(job));
  }

  async #deliver({ record, delivery }: Job): Promise<void> {
    // Its new owner reads it again; a copy of ours would be one too many.
    if (record.lost) return;
    const destination = await this.#findDestination(delivery.destinationId);
    if (!destination) return this.#bury(record, delivery, 'destination-deleted');
    if (!destination.enabled) return this.#bury(record, delivery, 'destination-disabled');
    const open = targetsOf(destination).filter(
      ({ fingerprint }) => !delivery.closedUrls.includes(fingerprint),
    );
    if (open.length === 0) return this.#bury(record, delivery, 'no-open-url');

    const startedAt = this.#now();
    const firstAttemptAt = delivery.firstAttemptAt ?? startedAt;
    if (startedAt > firstAttemptAt + this.#deps.policy.windowMs) {
      return this.#bury(record, delivery, 'window-exceeded');
    }
    this.#deps.observer.started({
      latenessMs: startedAt - (delivery.dueAt ?? record.timestamp),
      first: delivery.attempt === 0,
    });

    const results = await Promise.all(open.map((target) => this.#send(destination, target, delivery.body)));
    const answers = results.map(({ answer }) => answer);
    const attempt = delivery.attempt + 1;
    const outcome = decide({ attempt, firstAttemptAt }, answers, this.#deps.policy, this.#now());
    const attempted: Delivery = {
      ...delivery,
      attempt,
      firstAttemptAt,
      closedUrls: [...delivery.closedUrls, ...closedNow(results)],
    };
    await this.#conclude(record, attempted, outcome, { startedAt, results });
  }

  async #findDestination(id: string): Promise<Destination | undefined> {
    const known = this.#deps.config.destination(id);
    if (known?.enabled) return known;
    // That it exists, or is enabled, may be news that has not reached this process yet.
    await this.#refreshConfig();
    return this.#deps.config.destination(id);
  }

  /** Without an answer from Kafka nothing can be said of a destination, so its deliveries wait for one. */
  async #refreshConfig(): Promise<void> {
    for (;;) {
      try {
        await this.#deps.config.refresh();
        return;
      } catch (error) {
        if (!isTailraceError(error, 'kafka-unavailable')) throw error;
        await sleep(refreshPauseMs);
      }
    }
  }

  async #send(destination: Destination, target: Target, body: Buffer): Promise<UrlResult> {
    const startedAt = performance.now();
    const { origin, path } = target;
    const headers = requestHeaders(destination, target, body);
    const answer = await this.#deps.sender.send({ origin, path, headers, body });
    return { target, answer, latencyMs: Math.round((performance.now() - startedAt) * 10) / 10 };
  }

  async #conclude(
    record: TrackedRecord,
    delivery: Delivery,
    outcome: Outcome,
    { startedAt, results }: { startedAt: number; results: readonly UrlResult[] },
  ): Promise<void> {
    const report = (nextDueAt?: number): void => {
      this.#report(delivery, outcome, startedAt, results, nextDueAt);
    };
    switch (outcome.kind) {
      case 'delivered':
        record.done();
        report();
        return;
      case 'retry': {
        const topic = this.#deps.names.retryTier(outcome.tierMs);
        const dueAt = this.#dueTimes.assign(
          topic,
          record.partition,
          outcome.earliestDueAt,
          outcome.latestDueAt,
        );
        report(dueAt);
        await this.#replace(record, topic, { ...delivery, dueAt, reason: outcome.reason });
        return;
      }
      case 'dead':
        report();
        await this.#bury(
          record,
          { ...delivery, lastAnswer: JSON.stringify(results.map(urlAttempt)) },
          outcome.reason,
        );
        return;
    }
  }

  /** Publishes what takes the record's place, then calls it finished. */
  async #replace(record: TrackedRecord, topic: string, successor: Delivery): Promise<void> {
    if (record.lost) return;
    await this.#deps.publisher.publish(encodeDelivery(topic, successor, record.partition));
    record.done();
  }

  async #bury(record: TrackedRecord, delivery: Delivery, reason: DeadReason): Promise<void> {
    const { deliveryId, destinationId, eventId, attempt } = delivery;
    this.#deps.log.warn({ deliveryId, destinationId, eventId, attempt, reason }, 'dead letter');
    this.#deps.observer.died(destinationId, reason);
    await this.#replace(record, this.#deps.names.deliveriesDead, { ...delivery, dueAt: undefined, reason });
  }

  /** What somebody else wrote to the topic is kept as it is, with the reason beside it. */
  async #buryMalformed(record: TrackedRecord, problem: string): Promise<void> {
    const { topic, partition, offset } = record;
    const reason: DeadReason = 'malformed-record';
    this.#deps.log.error({ topic, partition, offset, problem, reason }, 'dead letter');
    this.#deps.observer.died('unknown', reason);
    await this.#deps.publisher.publish({
      topic: this.#deps.names.deliveriesDead,
      partition,
      key: record.key,
      value: record.value,
      headers: { ...record.headers, reason, 'last-answer': problem },
    });
    record.done();
  }

  #report(
    delivery: Delivery,
    outcome: Outcome,
    startedAt: number,
    results: readonly UrlResult[],
    nextDueAt?: number,
  ): void {
    const { deliveryId, eventId, sourceId, destinationId, type, attempt } = delivery;
    const record: AttemptRecord = {
      deliveryId,
      eventId,
      sourceId,
      destinationId,
      type,
      attempt,
      startedAt: new Date(startedAt).toISOString(),
      latencyMs: Math.max(...results.map(({ latencyMs }) => latencyMs)),
      outcome: outcome.kind,
      ...(outcome.kind !== 'delivered' && { reason: outcome.reason }),
      ...(nextDueAt !== undefined && { nextDueAt: new Date(nextDueAt).toISOString() }),
      urls: results.map(urlAttempt),
    };
    this.#deps.observer.attempted(record);
    this.#deps.log.info(record, 'attempt');
    const published = this.#deps.attemptPublisher.publish({
      topic: this.#deps.names.attempts,
      key: deliveryId,
      value: JSON.stringify(record),
    });
    // The attempt is in the log too, and the delivery itself does not depend on it.
    published.catch((error: unknown) => {
      this.#deps.log.debug({ err: error, deliveryId }, 'the record of an attempt was not kept');
    });
  }
}

interface UrlResult {
  readonly target: Target;
  readonly answer: Answer;
  readonly latencyMs: number;
}

/** The URLs that are not to be tried again for this delivery. */
function closedNow(results: readonly UrlResult[]): string[] {
  return results.filter(({ answer }) => answer.kind === 'permanent').map(({ target }) => target.fingerprint);
}

function urlAttempt({ target, answer, latencyMs }: UrlResult): UrlAttempt {
  const attempt = { url: target.shownUrl, latencyMs };
  if (answer.kind === 'success') return { ...attempt, status: answer.status };
  const { reason, status, detail } = answer;
  return {
    ...attempt,
    ...(status !== undefined && { status }),
    reason,
    ...(detail !== undefined && { detail }),
  };
}
