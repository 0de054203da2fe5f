/**
 * A deletion request as the topic `deletions` holds it, under its id: what was asked for, which sources it affects,
 * and how many of its events have been written. The ids of the users are in it only until the last one is: then
 * nothing of it names a person, and compaction takes the earlier records away.
 */
import { hash } from 'node:crypto';
import { readCall } from '@tailrace/events';
import type { OutgoingRecord } from '@tailrace/kafka';

export interface DeletionRequest {
  readonly id: string;
  /** ISO 8601, UTC with milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** How many users, each counted once. */
  readonly users: number;
  /** Names what was asked for, whatever order it was in. */
  readonly content: string;
  /** Those that had an enabled destination when the request was made, which are the ones that are told. */
  readonly sources: readonly AffectedSource[];
  readonly unaffected: readonly UnaffectedSource[];
  /** Events written so far: for the first source those of all users, then for the next. */
  readonly sent: number;
  /** In the order of the events; only until all are sent. */
  readonly userIds?: readonly string[] | undefined;
}

export interface AffectedSource {
  readonly sourceId: string;
  readonly destinations: readonly string[];
}

export interface UnaffectedSource {
  readonly sourceId: string;
  /** Nothing of a disabled source is sent; and there may be nobody to tell. */
  readonly reason: 'disabled' | 'no-destination';
}

export function totalOf({ users, sources }: Pick<DeletionRequest, 'users' | 'sources'>): number {
  return users * sources.length;
}

/** How many events of the `nth` source have been written. */
export function sentOf({ users, sent }: DeletionRequest, nth: number): number {
  return Math.min(Math.max(sent - nth * users, 0), users);
}

/** The same for the same users and sources; `sources` undefined means all, whichever there are. */
export function contentOf(userIds: readonly string[], sources: readonly string[] | undefined): string {
  const sorted = (texts: readonly string[]): string[] => [...new Set(texts)].sort();
  return hash('sha256', JSON.stringify([sorted(userIds), sources ? sorted(sources) : null]), 'base64url');
}

/** The messageId of the event about the `nth` user: the same however often it is made, and nobody else's. */
export function deletionEventId(requestId: string, sourceId: string, nth: number): string {
  return `deletion/${hash('sha256', `${requestId}\0${sourceId}`, 'base64url').slice(0, 22)}/${nth}`;
}

export function encodeRequest(topic: string, request: DeletionRequest): OutgoingRecord {
  return { topic, key: request.id, value: JSON.stringify(request) };
}

/** The request, or undefined where somebody else wrote the record. */
export function decodeRequest(value: Buffer): DeletionRequest | undefined {
  try {
    const request = JSON.parse(value.toString()) as Partial<DeletionRequest> | null;
    const isRequest = typeof request?.id === 'string' && Array.isArray(request.sources);
    return isRequest ? (request as DeletionRequest) : undefined;
  } catch {
    return undefined;
  }
}

/** The `nth` event of the request, as it stands in `events`. */
export function deleteRecord(topic: string, request: DeletionRequest, nth: number): OutgoingRecord {
  const { id, users, userIds = [], sources, createdAt } = request;
  const sourceId = sources[Math.floor(nth / users)]?.sourceId ?? '';
  const userId = userIds[nth % users] ?? '';
  const call = { userId, messageId: deletionEventId(id, sourceId, nth % users), timestamp: createdAt };
  const reading = readCall(call, {
    type: 'delete',
    receivedAt: Date.parse(createdAt),
    enriched: true,
    fallbackMessageId: () => '',
  });
  if (!reading.ok) throw new Error(reading.message);
  return { topic, key: userId, value: JSON.stringify(reading.event), headers: { 'source-id': sourceId } };
}
