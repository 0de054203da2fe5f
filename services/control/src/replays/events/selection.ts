/** Which past events a replay sends, and to which destination. */
import type { Filter } from '@tailrace/config';

/**
 * `missing`: what the destination has not been sent, and what has become a dead letter. `all`: also what it has been sent, as a
 * new delivery.
 */
export const replayModes = ['missing', 'all'] as const;
export type ReplayMode = (typeof replayModes)[number];

export interface EventSelection {
  readonly destinationId: string;
  /** Holds restored events, which are selected by the time at which they were accepted; by default `events`. */
  readonly topic?: string | undefined;
  /** Undefined: every source that is connected to the destination. */
  readonly sources?: readonly string[] | undefined;
  /** Accepted at this time or later, in milliseconds since the epoch: written to `events`. */
  readonly from: number;
  /** Accepted before this time. With `ends` it is the time of the request, and selects nothing. */
  readonly until: number;
  /**
   * By partition of the topic, where it ended when a replay was requested whose period ends then. The clock of control may be behind
   * those that gave the events their times.
   */
  readonly ends?: readonly (readonly [partition: number, end: number])[] | undefined;
  readonly types?: Filter['types'] | undefined;
  /** Names of track calls, pages or screens, as in a filter: `Order*`. Events without a name are left out. */
  readonly events?: readonly string[] | undefined;
  /** The userId, else the anonymousId. */
  readonly userKey?: string | undefined;
  /** Beside the filter of the destination. */
  readonly filter?: Filter | undefined;
  readonly mode: ReplayMode;
}

/** The events that a replay sends, as they were counted at its beginning. */
export interface EventTally {
  readonly events: number;
  /** By day in UTC, type and event name, largest count first; at most as many as are kept of dead letters. */
  readonly rows: readonly EventCount[];
  /** Records whose schema the registry does not have, or no registry is configured; of another topic also those that are no events. */
  readonly unreadable: number;
  /** Events of which it is not known any more whether they were sent; with the mode `missing` only. */
  readonly expired: number;
  /** By partition of the topic, the offset of the first record of the period. Undefined in those of the release before. */
  readonly starts?: readonly (readonly [partition: number, start: number])[] | undefined;
  /** By partition of the replay topic, where it ended when the events were counted: all that the replay sends comes later. */
  readonly before?: readonly (readonly [partition: number, end: number])[] | undefined;
  /** By partition of the topic, the offset to end before: what the router has not routed yet is no past event. */
  readonly ends: readonly (readonly [partition: number, end: number])[];
}

export interface EventCount {
  /** `2026-05-01` */
  readonly day: string;
  readonly type: string;
  /** The name of a track call's event. */
  readonly event?: string | undefined;
  events: number;
}

/** When the events were accepted at the latest, exclusive; Infinity where offsets say it. */
export function endOf({ ends, until }: EventSelection): number {
  return ends ? Infinity : until;
}

/** What events have to meet, beside the filter of the destination. */
export function filtersOf({ types, events, filter }: EventSelection): readonly Filter[] {
  const ofFields = { ...(types && { types }), ...(events && { events: { include: events } }) };
  return filter ? [ofFields, filter] : [ofFields];
}

/** Whether two replays may send the same event. */
export function overlap(one: EventSelection, other: EventSelection): boolean {
  const shareSource =
    !one.sources || !other.sources || one.sources.some((id) => other.sources?.includes(id) === true);
  const shareUser = one.userKey === undefined || (other.userKey ?? one.userKey) === one.userKey;
  const shareTime = one.from < other.until && other.from < one.until;
  return one.destinationId === other.destinationId && shareSource && shareUser && shareTime;
}
