/**
 * A call that streams show. Its line is made once for all callers that see the same of it: first with its content, and again without it
 * when more is known of its fate.
 */
import { formatInstant, isInstant, maxEventBytes, parseJson, wholeDigits, writeJson } from '@tailrace/events';
import type { ConsumedRecord } from '@tailrace/kafka';
import type { Caller } from '../access/authenticate.ts';
import { reachesDelivery } from '../access/limits.ts';
import { isMaskedFor, showBody, showUser } from '../access/mask.ts';
import type { Fate } from './fate.ts';

/** Clients choose the lengths of names and ids. */
const maxText = 256;
/** The first byte of the Confluent wire format. */
const magicByte = 0;

export class LiveCall {
  /** The position of its record: `events/0/17`. */
  readonly id: string;
  readonly sourceId: string;
  readonly fate: Fate;
  readonly type: string | undefined;
  readonly event: string | undefined;
  readonly userId: string | undefined;
  readonly eventId: string | undefined;
  readonly #receivedAt: string | undefined;
  /** Null once it was shown: the bytes are a part of everything that was fetched with them. */
  #value: Buffer | null;
  #isShown = false;
  readonly #lines = new Map<string, Buffer>();

  constructor(id: string, sourceId: string, record: ConsumedRecord, fate: Fate) {
    const { value, headers, timestamp } = record;
    const call = parse(value);
    this.id = id;
    this.sourceId = sourceId;
    this.fate = fate;
    this.type = text(call['type']) ?? headers['type']?.toString();
    this.event = text(call['event']);
    this.userId = text(call['userId']) ?? text(call['anonymousId']);
    this.eventId = text(call['messageId']);
    this.#receivedAt = isInstant(timestamp) ? formatInstant(timestamp) : undefined;
    this.#value = value;
  }

  /** The lines are made again, and without the content: all that see the call have it. */
  renew(): void {
    this.#isShown = true;
    this.#value = null;
    this.#lines.clear();
  }

  /** A line of JSON with what the caller sees. */
  lineFor(caller: Caller | undefined): Buffer {
    const { scope: role, destinations: limits } = caller ?? {};
    const sees = `${isMaskedFor(role)} ${limits?.join(' ') ?? '*'}`;
    const known = this.#lines.get(sees);
    if (known) return known;
    const { id, sourceId, type, event, userId, eventId } = this;
    const { outcome, destinations, decision, rejection } = this.fate;
    const isReached = (destinationId: string): boolean =>
      limits === undefined || reachesDelivery(caller, { sourceId, destinationId });
    const filtered = decision?.filtered.flatMap((group) => {
      const reached = group.destinations.filter(isReached);
      if (limits === undefined) return [group];
      return reached.length > 0 ? [{ ...group, count: reached.length, destinations: reached }] : [];
    });
    const line = {
      id,
      changed: this.#isShown ? true : undefined,
      receivedAt: this.#receivedAt,
      outcome,
      type,
      event,
      userKey: userId === undefined ? undefined : showUser(userId, role),
      eventId,
      destinations: destinations.filter(isReached),
      filtered: filtered ?? [],
      ...rejection,
      call: contentOf(this.#value, role),
    };
    const made = Buffer.from(`${JSON.stringify(line)}\n`);
    this.#lines.set(sees, made);
    return made;
  }
}

/** The content as text, as it was stored or with masked values; undefined for one that is not text, or too large for a call. */
function contentOf(value: Buffer | null, role: Caller['scope'] | undefined): string | undefined {
  if (value === null || value.length > maxEventBytes || value[0] === magicByte) return undefined;
  try {
    const shown = showBody(value, role);
    return shown.text ?? writeJson(shown.body);
  } catch (error) {
    // Nested too deep for the masks.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Empty where it is not an object, or too large for a call. */
export function parse(value: Buffer | null): Readonly<Record<string, unknown>> {
  if (value === null || value.length > maxEventBytes) return {};
  try {
    const parsed: unknown = parseJson(value.toString());
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** A producer may have written an id as a number. */
function text(value: unknown): string | undefined {
  const found = typeof value === 'string' ? value : wholeDigits(value);
  return found === '' ? undefined : found?.slice(0, maxText);
}
