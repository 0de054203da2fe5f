/**
 * A replay in the topic `replays`, where every control instance sees it. Keys: `replay/<id>` for its state, and
 * `interrupt/<id>` and `pause/<id>` for the requests to stop it and to let it wait.
 */
import type { CountRow, DeadLetterFilter } from '@tailrace/deadletters';
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import { objectIn } from '@tailrace/records';
import type { EventSelection, EventTally } from './events/selection.ts';

/**
 * `requested`: until the replays of events to the same destination that were requested before it have ended. A replay that is paused
 * stays in its state, and its request says so.
 */
export type ReplayState =
  | 'requested'
  | 'counting'
  | 'running'
  | 'done'
  | 'interrupted'
  | 'superseded'
  | 'failed';

/** Of dead letters, with a filter, or of events, with a selection: the release before ignores a record without a filter. */
export interface ReplayOrder {
  readonly filter?: DeadLetterFilter | undefined;
  readonly selection?: EventSelection | undefined;
  /** Of a replay of events: others that may send or may have sent the same events, in conflict with it or not. */
  readonly overlaps?: readonly string[] | undefined;
  readonly ratePerSecond: number;
  /** Count only, publish nothing. */
  readonly dryRun: boolean;
  /** The name of the token. */
  readonly by?: string | undefined;
}

/** The dead letters that match, as they were counted at the beginning. */
export interface ReplayTally {
  readonly deadLetters: number;
  /** Of them, those that had been replayed before. */
  readonly replayed: number;
  /** By destination and reason, largest count first; at most {@link maxRows}. */
  readonly rows: readonly Readonly<CountRow>[];
  /** The end offset of each partition of `deliveries.dead`; later dead letters are left for another replay. */
  readonly ends: readonly (readonly [partition: number, end: number])[];
}

export interface Replay extends ReplayOrder {
  readonly id: string;
  readonly state: ReplayState;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
  /** Set once the dead letters are counted. */
  readonly tally?: ReplayTally | undefined;
  /** The same, of a replay of events. */
  readonly eventTally?: EventTally | undefined;
  readonly replayed: number;
  /** Records that are not deliveries and cannot be replayed. */
  readonly malformed: number;
  /** Why the replay failed or was superseded. */
  readonly failure?: { readonly code: string; readonly message: string } | undefined;
}

/** A replay with the instance that runs it. */
export interface OwnedReplay extends Replay {
  /** The limited token that has begun the replay. */
  readonly limitedToken?: string | undefined;
  /** The instance that runs the replay; empty once it has released it. */
  readonly instance: string;
  /** Raised by each instance that takes the replay over. Records of an earlier term are ignored. */
  readonly term: number;
  /** Raised by each record of a term. */
  readonly revision: number;
}

/** Keeps a record far below the limit of the topic. */
export const maxRows = 100;

export type ReplayRecord =
  | { readonly kind: 'replay'; readonly replay: OwnedReplay }
  | { readonly kind: 'interrupt' | 'pause'; readonly id: string }
  /** A tombstone. */
  | { readonly kind: 'forget'; readonly key: string };

export function replayKey(id: string): string {
  return `replay/${id}`;
}

export function interruptKey(id: string): string {
  return `interrupt/${id}`;
}

export function pauseKey(id: string): string {
  return `pause/${id}`;
}

/** Undefined where it covers every destination. */
export function destinationOf({ filter, selection }: ReplayOrder): string | undefined {
  return (selection ?? filter)?.destinationId;
}

export function encodeReplay(topic: string, replay: OwnedReplay): OutgoingRecord {
  return { topic, key: replayKey(replay.id), value: JSON.stringify(replay) };
}

export function encodeInterrupt(topic: string, id: string): OutgoingRecord {
  return { topic, key: interruptKey(id), value: JSON.stringify({ id }) };
}

export function encodePause(topic: string, id: string): OutgoingRecord {
  return { topic, key: pauseKey(id), value: JSON.stringify({ id }) };
}

export function encodeForget(topic: string, key: string): OutgoingRecord {
  return { topic, key, value: null };
}

/** Undefined for a record that is not valid. */
export function decodeReplayRecord({
  key,
  value,
}: Pick<ConsumedRecord, 'key' | 'value'>): ReplayRecord | undefined {
  const text = key?.toString() ?? '';
  if (value === null) return { kind: 'forget', key: text };
  const parsed = objectIn<OwnedReplay>(value);
  if (typeof parsed?.id !== 'string') return undefined;
  if (text === interruptKey(parsed.id)) return { kind: 'interrupt', id: parsed.id };
  if (text === pauseKey(parsed.id)) return { kind: 'pause', id: parsed.id };
  const { filter, selection, state, startedAt, term, revision } = parsed;
  const isReplay =
    (typeof filter === 'object' || typeof selection === 'object') &&
    typeof state === 'string' &&
    [startedAt, term, revision].every(Number.isFinite);
  return isReplay ? { kind: 'replay', replay: parsed as OwnedReplay } : undefined;
}
