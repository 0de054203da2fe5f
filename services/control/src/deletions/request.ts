/**
 * A deletion request as stored in the topic `deletions` under its id: the affected sources, and how many of its events have
 * been written. The user ids are stored only until everything is written. Then the record holds no personal data, and
 * compaction removes the earlier records.
 */
import { hash } from 'node:crypto';
import type { OutgoingRecord } from '@tailrace/kafka';
import { objectIn } from '@tailrace/records';
import type { AudienceKey } from '../audiences/state/records.ts';
import { callRecord } from '../records/call.ts';

export interface DeletionRequest {
  readonly id: string;
  /** ISO 8601, UTC with milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Number of distinct users. */
  readonly users: number;
  /** A hash of the requested users and sources, independent of their order. */
  readonly content: string;
  /** Enabled sources with an enabled destination when the request was created. They get the events. */
  readonly sources: readonly AffectedSource[];
  readonly unaffected: readonly UnaffectedSource[];
  /** Events written so far, source by source, in the order of `sources` and `userIds`. */
  readonly sent: number;
  /**
   * For which sources the users are marked as deleted: ids of sources, or `allSources`. Absent in requests of a release that made
   * no marks.
   */
  readonly scopes?: readonly string[] | undefined;
  /** The audiences that the users are removed from. Removed, as `scopes`, with the user ids. */
  readonly audiences?: readonly AudienceKey[] | undefined;
  /** Marks and removals written so far, user by user; see marks.ts. They come before the events. */
  readonly marked?: number | undefined;
  /** Removed once everything is written. */
  readonly userIds?: readonly string[] | undefined;
  /**
   * By partition, where `events` ended when the request was created: earlier calls of the users are deleted. Removed with the user
   * ids. Absent in requests of a release that went by times.
   */
  readonly ends?: readonly number[] | undefined;
  /** When the deletion was lifted: ISO 8601, UTC with milliseconds. */
  readonly liftedAt?: string | undefined;
}

export interface AffectedSource {
  readonly sourceId: string;
  readonly destinations: readonly string[];
}

export interface UnaffectedSource {
  readonly sourceId: string;
  /** The source is disabled, or has no enabled destination. */
  readonly reason: 'disabled' | 'no-destination';
}

/** What is kept of a request once everything is written. */
export function withoutUsers(request: DeletionRequest): DeletionRequest {
  const { userIds: _users, ends: _ends, scopes: _scopes, audiences: _audiences, ...kept } = request;
  return kept;
}

export function totalOf({ users, sources }: Pick<DeletionRequest, 'users' | 'sources'>): number {
  return users * sources.length;
}

/** Events of the `nth` source that have been written. */
export function sentOf({ users, sent }: DeletionRequest, nth: number): number {
  return Math.min(Math.max(sent - nth * users, 0), users);
}

/** A hash of users and sources, independent of their order; `sources` undefined means all sources. */
export function contentOf(userIds: readonly string[], sources: readonly string[] | undefined): string {
  const sorted = (texts: readonly string[]): string[] => [...new Set(texts)].sort();
  return hash('sha256', JSON.stringify([sorted(userIds), sources ? sorted(sources) : null]), 'base64url');
}

/** The messageId of the event for the `nth` user: deterministic and unique. */
function deletionEventId(requestId: string, sourceId: string, nth: number): string {
  return `${eventGroupOf(requestId, sourceId)}/${nth}`;
}

/** With which the messageIds of a source begin. */
export function eventGroupOf(requestId: string, sourceId: string): string {
  return `deletion/${hash('sha256', `${requestId}\0${sourceId}`, 'base64url').slice(0, 22)}`;
}

export function encodeRequest(topic: string, request: DeletionRequest): OutgoingRecord {
  return { topic, key: request.id, value: JSON.stringify(request) };
}

/** Returns undefined for a record that is not a deletion request. */
export function decodeRequest(value: Buffer): DeletionRequest | undefined {
  const request = objectIn<DeletionRequest>(value);
  const isRequest = typeof request?.id === 'string' && Array.isArray(request.sources);
  return isRequest ? (request as DeletionRequest) : undefined;
}

/** The record of `events` for the `nth` event of the request. */
export function deleteRecord(topic: string, request: DeletionRequest, nth: number): OutgoingRecord {
  const { id, users, userIds = [], sources, createdAt } = request;
  const sourceId = sources[Math.floor(nth / users)]?.sourceId ?? '';
  const userId = userIds[nth % users] ?? '';
  const call = { userId, messageId: deletionEventId(id, sourceId, nth % users), timestamp: createdAt };
  return callRecord(topic, sourceId, call, {
    type: 'delete',
    receivedAt: Date.parse(createdAt),
    enriched: true,
  });
}
