/** The record of `usage`: what one router counted of one source since it last told. Records add up. */
import type { EventType } from '@tailrace/events';

/** One name of a track call's event. */
export interface EventUsage {
  readonly event: string;
  readonly calls: number;
  /** How many of them the source's schema filter kept from all destinations. */
  readonly filtered: number;
  /** When the first and the last of them was routed: ISO 8601, UTC with milliseconds. */
  readonly firstAt: string;
  readonly lastAt: string;
}

export interface UsageRecord {
  readonly sourceId: string;
  /** The day, in UTC, on which all of them were routed: `2026-11-21`. */
  readonly day: string;
  /** Calls by type; filtered ones are among them. Deletion notices are no calls. */
  readonly calls: Readonly<Partial<Record<Exclude<EventType, 'delete'>, number>>>;
  /** How many of them the source's schema filter kept from all destinations; only track calls are. */
  readonly filtered: number;
  readonly events: readonly EventUsage[];
}
