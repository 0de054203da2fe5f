/** The record of `usage`: the counts of one router for one source since its last record. The sum of all records is the usage. */
import type { EventType } from '@tailrace/events';

/** Counts of one event name of track calls. */
export interface EventUsage {
  readonly event: string;
  readonly calls: number;
  /** How many of these calls the source's schema blocked. */
  readonly filtered: number;
  /** When the first and the last of these calls were routed: ISO 8601, UTC with milliseconds. */
  readonly firstAt: string;
  readonly lastAt: string;
}

export interface UsageRecord {
  readonly sourceId: string;
  /** The day, in UTC, on which the calls were routed: `2026-11-21`. */
  readonly day: string;
  /** Calls by type, filtered ones included. `delete` events are not counted. */
  readonly calls: Readonly<Partial<Record<Exclude<EventType, 'delete'>, number>>>;
  /** How many of these calls the source's schema blocked; only track calls can be. */
  readonly filtered: number;
  /** Up to 500 names of a source and day, each of up to 200 UTF-16 units. */
  readonly events: readonly EventUsage[];
  /** Track calls of all other names. */
  readonly otherEvents?: Omit<EventUsage, 'event'> | undefined;
}
