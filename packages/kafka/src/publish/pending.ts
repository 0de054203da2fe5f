/** Records that wait for their acknowledgement, and the partitions that they are written to. */
import type { Producer } from 'kafkajs';
import type { OutgoingRecord } from '../record.ts';

/** A record that is not acknowledged yet. */
export interface Pending {
  readonly record: OutgoingRecord;
  readonly bytes: number;
  readonly since: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  /** Acknowledged or rejected. A record that is rejected in flight stays in its request. */
  settled: boolean;
  /** Undefined until the layout of the topic is known. */
  target: Target | undefined;
}

/** A partition that records are written to. */
export interface Target {
  readonly topic: string;
  readonly partition: number;
  /** The broker that leads the partition, as of the last metadata; -1 if none does. */
  leader: number;
  pending: number;
  /** The sender of the pending records; undefined while there are none. */
  sender: Sender | undefined;
}

/** Writes the records of some partitions, one request at a time. */
export interface Sender {
  /** All pending records, including those in flight. */
  readonly pending: readonly Pending[];
  add(pending: Pending): void;
  /** Removes settled records from the queue. */
  removeSettled(): void;
  /** Of a sender without pending records. */
  close(): void;
}

/** Partitions that failed in one request. */
export interface FailedPartitions {
  /** Requests to send before `queue`. */
  readonly requests: readonly (readonly Pending[])[];
  readonly queue: readonly Pending[];
  /** The producer with which the same batches may be repeated under the same sequence numbers. */
  readonly producer: Promise<Producer> | undefined;
  /** Whether to pause before the first request. False if the requests differ from the one that failed. */
  readonly pause: boolean;
}

/** What a sender is for: the partitions of a leader, or those that failed together. */
export type SendersPartitions = { readonly leader: number } | FailedPartitions;

export function isOpen({ settled }: Pending): boolean {
  return !settled;
}

export function keyOf({ record, target }: Pending): string {
  return `${record.topic}/${target?.partition ?? -1}`;
}
