/**
 * The records of `recalls`: what operators asked for (`retry` or `drain` of what waits for a destination), and, of each
 * destination and partition, which records of its tiers are over though the group has not read them yet.
 *
 * Keys are `request/<destination>` and `state/<partition>/<destination>`, so the last one of each stays.
 */
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';

export type RecallKind = 'retry' | 'drain';

export interface RecallRequest {
  readonly id: string;
  readonly kind: RecallKind;
  readonly destinationId: string;
  /** What waited then is meant: ISO 8601, UTC with milliseconds. */
  readonly requestedAt: string;
  /** How many partitions `deliveries` had, each of which reports. */
  readonly partitions: number;
}

/**
 * Records of one destination that are delivered, dead, or written to a tier again: those from `from` up to `end`, except
 * those that are listed, as far as that was read.
 */
export interface RecallMark {
  /** The tier's topic. */
  readonly topic: string;
  readonly from: number;
  readonly end: number;
  /** Of `from` to `end`, only those below this … */
  readonly to: number;
  /** … or, of ordered deliveries, those up to this sequence. Null where `to` counts for them too. */
  readonly through: number | null;
  /** Offsets of those that are not over. */
  readonly except: readonly number[];
  /** Milliseconds since the epoch; a record that was written later is another one, in a topic that was made again. */
  readonly at: number;
}

export interface RecallProgress {
  readonly id: string;
  /** `stopped`: the receiver was down again. */
  readonly state: 'running' | 'done' | 'stopped';
  /** How many deliveries were brought forward, or ended. */
  readonly count: number;
}

export interface RecallState {
  readonly destinationId: string;
  readonly partition: number;
  readonly marks: readonly RecallMark[];
  /** Of the last request that was begun. */
  readonly request?: RecallProgress | undefined;
}

export type RecallRecord =
  | { readonly kind: 'request'; readonly request: RecallRequest }
  | { readonly kind: 'state'; readonly state: RecallState };

export function encodeRecallRequest(topic: string, request: RecallRequest): OutgoingRecord {
  return { topic, key: `request/${request.destinationId}`, value: JSON.stringify(request) };
}

/** A state that says nothing is a tombstone. */
export function encodeRecallState(topic: string, state: RecallState): OutgoingRecord {
  const isEmpty = state.marks.length === 0 && !state.request;
  const key = `state/${state.partition}/${state.destinationId}`;
  return { topic, key, value: isEmpty ? null : JSON.stringify(state) };
}

/** Undefined where it is none. */
export function decodeRecall({
  key,
  value,
}: Pick<ConsumedRecord, 'key' | 'value'>): RecallRecord | undefined {
  const [kind, ...rest] = key?.toString().split('/') ?? [];
  if (kind === 'state') {
    const partition = Number(rest[0]);
    const destinationId = rest.slice(1).join('/');
    const found = value ? parsed<RecallState>(value) : undefined;
    if (value && !Array.isArray(found?.marks)) return undefined;
    const { marks = [], request } = found ?? {};
    return { kind, state: { destinationId, partition, marks, request } };
  }
  const request = kind === 'request' && value ? parsed<RecallRequest>(value) : undefined;
  if (!request || Number.isNaN(Date.parse(request.requestedAt))) return undefined;
  return { kind: 'request', request };
}

function parsed<T>(value: Buffer): (Partial<T> & T) | undefined {
  try {
    return JSON.parse(value.toString()) as T;
  } catch {
    return undefined;
  }
}

/** Whether the mark says of this record of its partition that it is over. */
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
