/**
 * How old the oldest unfinished record of a partition is. Pure.
 *
 * The age counts from the record's timestamp. Producers may set any timestamp, so it is accepted only between the times at
 * which the record is known to have appeared (known-ends.ts), and not older than the topic keeps records. The topics have
 * no LogAppendTime instead, because the time at which a direct producer created an event would be lost.
 *
 * All times are milliseconds since the epoch.
 */
import type { KnownEnds } from './known-ends.ts';

/** A record that is received and not finished. */
interface UnfinishedRecord {
  readonly offset: number;
  readonly timestamp: number;
  /** When it is due, for a record of a retry topic. */
  readonly dueAt: number | undefined;
}

/** The progress of a reader in one partition. */
export interface Progress {
  /** The offset of the first record that was not received; undefined if it is not known yet. */
  readonly nextUnread: number | undefined;
  readonly ends: KnownEnds;
  /** In the order of their offsets. Only the first is used if the topic has no delay. */
  unfinishedRecords(): Iterable<UnfinishedRecord>;
  /** The timestamp of the record at `nextUnread`, if it was looked up. */
  readonly nextTimestamp: number | undefined;
  /** The timestamp of the last record that was received. */
  readonly lastTimestamp: number | undefined;
}

export interface TopicTimes {
  /** The time after which records of the topic are due; undefined if they are due immediately. */
  readonly delayMs: number | undefined;
  /** How long the topic keeps records; undefined if it is not known or not limited. */
  readonly retentionMs: number | undefined;
}

export interface Lag {
  /** The age of the oldest unfinished record; 0 if there is none. */
  readonly ageMs: number;
  /** As `ageMs`, but from the time at which a record is due. */
  readonly lateMs: number;
}

/** A partition that was read to its end this long ago may have new records. */
const endKnownForMs = 15_000;

const none: Lag = { ageMs: 0, lateMs: 0 };

/** Undefined while it is not known. */
export function lagOf(progress: Progress, times: TopicTimes, now: number): Lag | undefined {
  return lagOfReceived(progress, times, now) ?? lagOfUnread(progress, times, now);
}

/** Undefined if no received record is unfinished. */
function lagOfReceived(
  progress: Progress,
  { delayMs, retentionMs }: TopicTimes,
  now: number,
): Lag | undefined {
  let oldest: number | undefined;
  let lateMs = 0;
  for (const record of progress.unfinishedRecords()) {
    const { dueAt } = record;
    // Thousands of records of a retry topic are received and not due.
    if (oldest !== undefined && dueAt !== undefined && dueAt >= now) continue;
    const since = appearedAt(record, progress.ends, retentionMs, now) ?? now;
    oldest ??= since;
    if (delayMs === undefined) return { ageMs: now - oldest, lateMs: now - oldest };
    lateMs = Math.max(lateMs, now - Math.max(since, dueAt ?? since + delayMs));
  }
  return oldest === undefined ? undefined : { ageMs: now - oldest, lateMs };
}

function lagOfUnread(
  { nextUnread: next, ends, nextTimestamp, lastTimestamp }: Progress,
  { delayMs = 0, retentionMs }: TopicTimes,
  now: number,
): Lag | undefined {
  if (next === undefined || ends.end === undefined) return undefined;
  if (next >= ends.end) return now - ends.asOf <= endKnownForMs ? none : undefined;
  // While a backlog is read, its next record is about as old as the record before it.
  const place = { offset: next, timestamp: nextTimestamp ?? lastTimestamp };
  const since = appearedAt(place, ends, retentionMs, now);
  if (since === undefined) return undefined;
  return { ageMs: now - since, lateMs: Math.max(0, now - since - delayMs) };
}

/** Returns when the record at `offset` appeared, at the latest now; undefined if nothing is known about it. */
function appearedAt(
  { offset, timestamp }: { readonly offset: number; readonly timestamp: number | undefined },
  ends: KnownEnds,
  retentionMs: number | undefined,
  now: number,
): number | undefined {
  const { after, before = now } = ends.appearanceOf(offset);
  if (timestamp === undefined) return after;
  // Kafka returns -1 for a record without a timestamp.
  if (timestamp < 0) return after ?? before;
  const earliest = after ?? now - (retentionMs ?? Infinity);
  return Math.min(Math.max(timestamp, earliest), before, now);
}

/** A healthy partition does not hide another whose lag is not known, unless it is itself this late. */
const certainlyLateMs = 1_000;

/** The highest lag of several partitions; undefined while it is not known. */
export function highestOf(lags: readonly (number | undefined)[]): number | undefined {
  let highest: number | undefined;
  let isComplete = true;
  for (const lag of lags) {
    if (lag === undefined) isComplete = false;
    else highest = Math.max(highest ?? 0, lag);
  }
  return isComplete || (highest ?? 0) >= certainlyLateMs ? highest : undefined;
}
