/**
 * What was told, for all instances and after a restart: records of the topic `destinations.health`, beside those of operations/reported.ts.
 *
 * - `told/<notification>/<event>/<source or destination>`: an incident that was told and is not over.
 * - `notification/<notification>`: its latest message.
 */
import { objectIn } from '@tailrace/records';
import type { OutgoingRecord } from '@tailrace/kafka';

/** Times are ISO 8601, UTC with milliseconds. */
export interface Told {
  readonly since: string;
  /** The id of the message with which it was told. */
  readonly group: string;
}

/** The latest message. `sentAt` is when one was accepted last. */
export type Latest =
  | { readonly state: 'sending'; readonly claim: string; readonly sentAt?: string | undefined }
  | { readonly state: 'sent'; readonly sentAt: string }
  | {
      readonly state: 'failed';
      readonly failedAt: string;
      readonly reason: string;
      readonly sentAt?: string | undefined;
    };

export interface MessagePace {
  /** Changes are collected for this time before they are told, so that many destinations that fail together are one message. Default 30 s. */
  readonly gatherMs?: number;
  /** From a message of a notification to its next one, also where it failed. Default 5 minutes. */
  readonly intervalMs?: number;
  /** An instance that has begun to send and is silent for this long has ended. Default 2 minutes. */
  readonly leaseMs?: number;
  /** The pauses before the second and the third try to send a message. */
  readonly retryAfterMs?: readonly number[];
}

interface Seen {
  readonly latest: Latest;
  /** Of the monotonic clock of this instance. */
  readonly seenAt: number;
  /** Read when the instance started: how old it is, is not known. */
  readonly isFromBefore: boolean;
}

const nothing: ReadonlyMap<string, Told> = new Map();

export class ToldState {
  readonly #told = new Map<string, Map<string, Told>>();
  readonly #latest = new Map<string, Seen>();
  #isStarting = true;

  /** Takes a record of the topic. */
  accept(name: string, value: Buffer | null): void {
    const [kind = '', id = '', ...rest] = name.split('/');
    if (kind === 'told') {
      const told = objectIn<Told>(value) as Told | undefined;
      const ofThis = this.#told.get(id) ?? new Map<string, Told>();
      if (told) ofThis.set(rest.join('/'), told);
      else ofThis.delete(rest.join('/'));
      if (ofThis.size === 0) this.#told.delete(id);
      else this.#told.set(id, ofThis);
    } else if (kind === 'notification') {
      const latest = objectIn<Latest>(value) as Latest | undefined;
      if (latest) this.#latest.set(id, { latest, seenAt: performance.now(), isFromBefore: this.#isStarting });
      else this.#latest.delete(id);
    }
  }

  /** All records that the topic had at the start are read. */
  started(): void {
    this.#isStarting = false;
  }

  /** By the key of the incident. */
  told(id: string): ReadonlyMap<string, Told> {
    return this.#told.get(id) ?? nothing;
  }

  latest(id: string): Latest | undefined {
    return this.#latest.get(id)?.latest;
  }

  /** Whether the next message may be sent, by this instance. */
  maySend(id: string, { intervalMs, leaseMs }: Required<MessagePace>): boolean {
    const seen = this.#latest.get(id);
    if (!seen) return true;
    const ageMs = performance.now() - seen.seenAt;
    if (seen.latest.state === 'sending') return ageMs >= leaseMs;
    return seen.isFromBefore || ageMs >= intervalMs;
  }

  /** The keys of the records of notifications that do not exist. */
  *abandoned(exists: (id: string) => boolean): Generator<string> {
    for (const [id, told] of this.#told) {
      if (!exists(id)) for (const key of told.keys()) yield toldKey(id, key);
    }
    for (const id of this.#latest.keys()) if (!exists(id)) yield latestKey(id);
  }
}

export const latestKey = (id: string): string => `notification/${id}`;
export const toldKey = (id: string, incident: string): string => `told/${id}/${incident}`;

/** @param value undefined removes it */
export function encodeTold(topic: string, key: string, value: Told | Latest | undefined): OutgoingRecord {
  return { topic, key, value: value ? JSON.stringify(value) : null };
}
