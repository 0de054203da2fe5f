/**
 * Joins the two sources of deliveries: the consumer group, and recalls, which read the retry topics beside it. A record that
 * both have read enters the pipeline once.
 */
import type { DueRecord } from '@tailrace/kafka';
import type { Lanes } from '../stages/lane/lanes.ts';
import type { Pipeline } from '../pipeline.ts';
import type { Ledger } from './recall/ledger.ts';
import type { Recalls } from './recall/recalls.ts';
import type { HeaderTimes } from '../stages/due/header-times.ts';
import type { Ownership } from '../settle/due-times.ts';

export interface IntakeDependencies {
  readonly times: HeaderTimes;
  readonly ledger: Pick<Ledger, 'refresh'>;
  readonly recalls: Pick<Recalls, 'receive' | 'rebalanced'>;
  readonly pipeline: Pick<Pipeline, 'receive' | 'jobOf' | 'writeMalformed'>;
  readonly lanes: Pick<Lanes, 'pause' | 'resume'>;
  readonly ownership: Pick<Ownership, 'joined'>;
}

export class Intake {
  readonly #deps: IntakeDependencies;

  constructor(dependencies: IntakeDependencies) {
    this.#deps = dependencies;
  }

  /** Receives a record of `deliveries`, a retry topic or the replay topic. */
  receive(record: DueRecord): void {
    const { times, recalls, pipeline } = this.#deps;
    const delivery = times.read(record);
    if (typeof delivery === 'string') {
      pipeline.writeMalformed(record, delivery);
      return;
    }
    if (delivery.dueAt !== undefined) record.waitsUntil(delivery.dueAt);
    const job = pipeline.jobOf(record.work, delivery);
    if (!recalls.receive(job)) pipeline.receive(job);
  }

  /** The deliveries that earlier owners have recalled must be known before the retry topics are read. */
  prepare(): Promise<void> {
    return this.#deps.ledger.refresh();
  }

  /** A rebalance has begun, or this replica has joined the group after it. */
  rebalanced(phase: 'begun' | 'joined'): void {
    if (phase === 'joined') this.#deps.ownership.joined();
    this.#deps.recalls.rebalanced(phase);
  }

  /** Nothing may be started while it is `held`, because it could not be committed. */
  hold(held: boolean): void {
    if (held) this.#deps.lanes.pause();
    else this.#deps.lanes.resume();
  }
}
