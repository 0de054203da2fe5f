/**
 * The Idempotency-Keys of the last 24 hours, from the topic `idempotency`, for all instances. The topic is a lock: an
 * instance writes that it begins a request, reads to the end, and has the key if its record is the first. So of two
 * instances that receive the same request at the same moment, one executes it.
 *
 * A request whose outcome is unknown keeps its key: its instance gave up while Kafka did not answer, or ended. It may be
 * executed again under the same id, by which it is found out whether the first execution has written its change.
 *
 * Memory is bounded: of each key some 300 bytes are kept, not its answer.
 */
import type { ConsumedRecord } from '@tailrace/kafka';
import { objectIn } from '@tailrace/records';
import { amounts } from '../access/shared.ts';

export interface KeyRecord {
  /** The digest of the caller and the key. */
  readonly key: string;
  /** The caller: the id of its token, or the fingerprint. */
  readonly caller: string;
  /** A random id of the attempt to have the key. */
  readonly claim: string;
  readonly state: 'begun' | 'done' | 'unknown' | 'released';
  /** The claim whose outcome is unknown to the instance that begins the request again. */
  readonly replaces?: string;
  /** The digest of the request. */
  readonly request: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Of a request that is done, unless it was too long. */
  readonly answer?: string | undefined;
}

export interface KnownKey {
  readonly claim: string;
  /** The first claim of the request, which is its id. */
  readonly id: string;
  readonly caller: string;
  readonly request: string;
  readonly at: number;
  /** When this instance learned of the claim, by the monotonic clock: those of two instances may differ by hours. */
  readonly seenAt: number;
  readonly state: 'begun' | 'done' | 'unknown';
  /** Of the record with the answer, where the request is done. */
  readonly answeredAt: number | undefined;
}

const { most, ofOne } = amounts.idempotencyKeys;

export const keptMs = 24 * 3_600_000;
/** The instance of a request that is in progress for longer has ended; no request takes as long. Its outcome is unknown. */
export const abandonedMs = 60_000;

export class Keys {
  readonly #elapsed: () => number;
  /** In the order of their times, so that expired ones are first. */
  readonly #known = new Map<string, KnownKey>();
  readonly #counts = new Map<string, number>();

  constructor(elapsed: () => number = () => performance.now()) {
    this.#elapsed = elapsed;
  }

  /** Applies the next record of the topic. */
  accept({ value, offset }: Pick<ConsumedRecord, 'value' | 'offset'>): void {
    const record = decode(value);
    if (!record) return;
    if (record.state === 'begun') {
      this.#begin(record);
      return;
    }
    const { key, claim, state } = record;
    const found = this.#known.get(key);
    if (found?.claim !== claim) return;
    if (state === 'released') this.#remove(key);
    else this.#known.set(key, { ...found, state, answeredAt: state === 'done' ? offset : undefined });
  }

  /** The key, if it is in force at this time. */
  find(key: string, now: number): KnownKey | undefined {
    const found = this.#known.get(key);
    return found && isInForce(found, now) ? found : undefined;
  }

  /** Whether the request of the key may be executed again, because it is unknown whether it was. */
  hasUnknownOutcome(key: string): boolean {
    const { state, seenAt = 0 } = this.#known.get(key) ?? {};
    return state === 'unknown' || (state === 'begun' && this.#elapsed() - seenAt >= abandonedMs);
  }

  /** Whether one more key of the caller can be kept. */
  hasPlace(caller: string, now: number): boolean {
    this.#expire(now);
    return this.#known.size < most && (this.#counts.get(caller) ?? 0) < ofOne;
  }

  /** The first claim has the key, unless it is replaced. */
  #begin({ key, caller, claim, replaces, request, at }: KeyRecord): void {
    this.#expire(at);
    const before = this.find(key, at);
    const isReplaced = before?.state === 'unknown' || before?.claim === replaces;
    if (before && !(isReplaced && before.request === request)) return;
    this.#remove(key);
    const id = before?.id ?? claim;
    const seenAt = this.#elapsed();
    this.#known.set(key, { claim, id, caller, request, at, seenAt, state: 'begun', answeredAt: undefined });
    this.#counts.set(caller, (this.#counts.get(caller) ?? 0) + 1);
  }

  #expire(now: number): void {
    for (const [key, found] of this.#known) {
      if (isInForce(found, now)) break;
      this.#remove(key);
    }
  }

  #remove(key: string): void {
    const found = this.#known.get(key);
    if (!found) return;
    this.#known.delete(key);
    const left = (this.#counts.get(found.caller) ?? 1) - 1;
    if (left === 0) this.#counts.delete(found.caller);
    else this.#counts.set(found.caller, left);
  }
}

function isInForce({ at }: KnownKey, now: number): boolean {
  return now - at < keptMs;
}

export function decode(value: Buffer | null): KeyRecord | undefined {
  const record = objectIn<KeyRecord>(value);
  const isKey = typeof record?.key === 'string' && typeof record.claim === 'string';
  return isKey ? (record as KeyRecord) : undefined;
}
