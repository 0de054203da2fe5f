/**
 * The records of `recalls`: requests of operators to `retry` or `drain` the pending deliveries of a destination, and the state of
 * each destination and partition: which records of its retry topics are finished although the group has not read them yet.
 *
 * Keys are `request/<destination>` and `state/<partition>/<destination>`, so compaction keeps the last record of each.
 */
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import { objectIn } from './json.ts';

export type RecallKind = 'retry' | 'drain';

export interface RecallRequest {
  readonly id: string;
  readonly kind: RecallKind;
  readonly destinationId: string;
  /** By the clock of control, which may differ from others: ISO 8601, UTC with milliseconds. */
  readonly requestedAt: string;
  /** The number of partitions of `deliveries` at that time; each of them reports its state. */
  readonly partitions: number;
  /**
   * Where each partition of each retry topic ended then; the request covers the records before. In a topic or a partition that is
   * not here there was none. Absent in requests of an earlier release, which cover records up to `requestedAt`.
   */
  readonly ends?: Readonly<Record<string, readonly number[]>> | undefined;
}

/**
 * Marks records of one destination in a retry topic as finished: delivered, dead, or written to a retry topic again. The
 * offsets from `from` up to `end` are covered, except those in `except`.
 */
export interface RecallMark {
  /** The retry topic. */
  readonly topic: string;
  readonly from: number;
  readonly end: number;
  /** Of these offsets, only those below this one are finished … */
  readonly to: number;
  /** … or, for ordered deliveries, those up to this sequence. Null where `to` applies to them too. */
  readonly through: number | null;
  /** Offsets of records that are not finished. */
  readonly except: readonly number[];
  /**
   * No covered record has a later time than this one, in milliseconds since the epoch. One that has is in a topic that was created
   * again.
   */
  readonly at: number;
}

export interface RecallProgress {
  readonly id: string;
  /** `stopped`: the receiver became unavailable again. */
  readonly state: 'running' | 'done' | 'stopped';
  /** How many deliveries were brought forward or drained. */
  readonly count: number;
}

export interface RecallState {
  readonly destinationId: string;
  readonly partition: number;
  readonly marks: readonly RecallMark[];
  /** The last request that was started. */
  readonly request?: RecallProgress | undefined;
}

export type RecallRecord =
  | { readonly kind: 'request'; readonly request: RecallRequest }
  | { readonly kind: 'state'; readonly state: RecallState };

export function encodeRecallRequest(topic: string, request: RecallRequest): OutgoingRecord {
  return { topic, key: `request/${request.destinationId}`, value: JSON.stringify(request) };
}

/** An empty state becomes a tombstone. */
export function encodeRecallState(topic: string, state: RecallState): OutgoingRecord {
  const isEmpty = state.marks.length === 0 && !state.request;
  const key = `state/${state.partition}/${state.destinationId}`;
  return { topic, key, value: isEmpty ? null : JSON.stringify(state) };
}

/** Undefined where the record is not valid. */
export function decodeRecall({
  key,
  value,
}: Pick<ConsumedRecord, 'key' | 'value'>): RecallRecord | undefined {
  const [kind, ...rest] = key?.toString().split('/') ?? [];
  if (kind === 'state') {
    const partition = Number(rest[0]);
    const destinationId = rest.slice(1).join('/');
    const found = objectIn<RecallState>(value);
    if (value && !Array.isArray(found?.marks)) return undefined;
    const { marks = [], request } = found ?? {};
    return { kind, state: { destinationId, partition, marks, request } };
  }
  const request = kind === 'request' ? objectIn<RecallRequest>(value) : undefined;
  if (Number.isNaN(Date.parse(request?.requestedAt ?? ''))) return undefined;
  return { kind: 'request', request: request as RecallRequest };
}

/** Whether the mark covers this record of its partition. */
export function isMarked(
  mark: RecallMark,
  { topic, offset, timestamp }: Pick<ConsumedRecord, 'topic' | 'offset' | 'timestamp'>,
  sequence: number | undefined,
): boolean {
  const { from, end, to, through, except, at } = mark;
  if (topic !== mark.topic || offset < from || offset >= end || timestamp > at) return false;
  const isBelow = through !== null && sequence !== undefined ? sequence <= through : offset < to;
  return isBelow && !except.includes(offset);
}
