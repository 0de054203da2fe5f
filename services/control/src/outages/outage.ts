/**
 * An outage of a destination with `disableAfter`: its attempts only fail. README.md has the states. Pure.
 *
 * All times are those of attempts, in milliseconds since the epoch; only they are compared. So nothing happens while there are no attempts,
 * however much time passes.
 */
import type { ConfigLookup } from '@tailrace/config';
import { parseDuration } from '@tailrace/events';
import type { LatestAttempts } from '@tailrace/history';

interface Span {
  /** The version of the entry in which it began. */
  readonly version: number;
  /** The first attempt that was noticed, and the latest one that was written. */
  readonly since: number;
  readonly until: number;
  /** Of the latest attempt; null where it is not known. */
  readonly reason: string | null;
}

export type Outage = Span &
  ({ readonly state: 'failing' | 'disabled' } | { readonly state: 'warned'; readonly warnedAt: number });

/** A destination, as far as it matters here. */
export interface Watched {
  readonly version: number;
  readonly enabled: boolean;
  /** Undefined where it has no `disableAfter`. */
  readonly afterMs: number | undefined;
}

/** `begin` is kept in memory: most outages are over before they need a record. */
export type Step =
  | { readonly kind: 'begin' | 'continue' | 'warn' | 'disable'; readonly outage: Outage }
  | { readonly kind: 'over' };

const dayMs = 86_400_000;
const longestRetryMs = dayMs / 6;
/** How often the latest attempt is written. */
const writtenPerNotice = 8;

/** From the warning to the end: a day, or half of what is at most a day. */
export function noticeOf(afterMs: number): number {
  return afterMs > dayMs ? dayMs : afterMs / 2;
}

/** The attempt that disables the destination is not before this time. */
export function disablesAt(outage: Outage, afterMs: number): number {
  const warnedAt = outage.state === 'warned' ? outage.warnedAt : -Infinity;
  return Math.max(outage.since + afterMs, warnedAt + noticeOf(afterMs));
}

/** The first events of the outage were accepted after this time: a delivery is retried for at most four hours. */
export function missedFrom({ since }: Outage): number {
  return since - longestRetryMs;
}

/** Undefined where there is no such destination. */
export function watchedOf(
  config: Pick<ConfigLookup, 'destination' | 'version'>,
  id: string,
): Watched | undefined {
  const version = config.version('destination', id);
  const { enabled = false, disableAfter = '' } = config.destination(id) ?? {};
  return version === undefined ? undefined : { version, enabled, afterMs: parseDuration(disableAfter) };
}

/**
 * Undefined where nothing changes.
 *
 * @param watched undefined where it was deleted
 */
export function stepOf(
  outage: Outage | undefined,
  watched: Watched | undefined,
  attempts: LatestAttempts | undefined,
): Step | undefined {
  const over: Step | undefined = outage && { kind: 'over' };
  if (!watched) return over;
  const { version, enabled, afterMs } = watched;
  const isSame = outage?.version === version;
  // It stays known until the destination is enabled. An instance may read it before the change that disables the destination.
  if (!enabled || (outage?.state === 'disabled' && isSame)) return undefined;
  if (!attempts || attempts.attemptedAt <= (attempts.deliveredAt ?? 0) || afterMs === undefined) return over;
  const { attemptedAt, deliveredAt, reason } = attempts;
  if (!outage) {
    const span = { version, since: attemptedAt, until: attemptedAt, reason };
    return { kind: 'begin', outage: { state: 'failing', ...span } };
  }
  const noticeMs = noticeOf(afterMs);
  const hasSucceeded = (deliveredAt ?? 0) >= outage.since;
  const wasSilent = attemptedAt - outage.until > noticeMs;
  if (!isSame || hasSucceeded || wasSilent) return over;
  const until = Math.max(outage.until, attemptedAt);
  const now = { ...outage, until, reason };
  if (now.state === 'warned' && until >= disablesAt(now, afterMs)) {
    return { kind: 'disable', outage: { ...now, state: 'disabled' } };
  }
  if (now.state === 'failing' && until - now.since >= afterMs - noticeMs) {
    return { kind: 'warn', outage: { ...now, state: 'warned', warnedAt: until } };
  }
  return until - outage.until >= noticeMs / writtenPerNotice ? { kind: 'continue', outage: now } : undefined;
}
