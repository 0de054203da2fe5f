/** Judges a campaign: every promise that the facts break, as a sentence. */
import { verifySignature } from '@tailrace/signing';
import { bodyOf } from '../support/oracle/calls.ts';
import { owedTo, type Entry } from '../support/oracle/ledger.ts';
import { judge, type Arrival } from '../support/oracle/oracle.ts';
import { busyReceiverMs, explainRepeats, type Cause, type Trail } from '../support/oracle/repeats.ts';
import { possibleTimes } from './clocks.ts';
import { wrongCounts } from './counts.ts';
import { destinationsOf, passesFilter, type Change, type Facts, type Send, type Written } from './facts.ts';

export interface Violation {
  readonly rule: Rule;
  readonly says: string;
}

export type Rule =
  | 'lost'
  | 'altered'
  | 'never sent'
  | 'badly signed'
  | 'sent while off'
  | 'sent after deletion'
  | 'deletion not announced'
  | 'routed past the filter'
  | 'out of order'
  | 'repeated without cause'
  | 'wrong reason'
  | 'too late'
  | 'wrong explanation'
  | 'wrong count'
  | 'crashed';

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly repeats: Readonly<Record<Cause, number>>;
}

/** A change is in force in all services this long after its answer. */
const inForceMs = 2_000;
/** What finished this long before a disruption may be repeated: half a second, and two for commits on a busy machine. */
const repeatableMs = 500 + 2_000;
/** The retry window. */
const windowMs = 4 * 3_600_000;

type Check = (facts: Facts) => readonly Violation[];

export function judgeCampaign(facts: Facts): Verdict {
  const { causes, unexplained } = explainRepeats(facts.trails, facts.disruptions, repeatableMs);
  const checks: readonly Check[] = [
    conserved,
    signed,
    silentWhileOff,
    deleted,
    filtered,
    inOrder,
    routedOnce,
    deadForAReason,
    decidedForAReason,
    inTime,
    explained,
  ];
  return {
    violations: [
      ...checks.flatMap((check) => check(facts)),
      ...unexplained.map((says): Violation => ({ rule: 'repeated without cause', says })),
      ...wrongCounts(facts).map((says): Violation => ({ rule: 'wrong count', says })),
      ...facts.crashes.map((says): Violation => ({ rule: 'crashed', says })),
    ],
    repeats: causes,
  };
}

/** Every accepted event is delivered, dead or decided against, for each destination; all bytes are right. */
function conserved({ sends, destinations, entries, decisions, written }: Facts): Violation[] {
  const obligations = sends.flatMap(({ call, source }) => {
    const body = bodyOf(call);
    const owed = destinationsOf(destinations, source);
    return owed.map(({ id }) => ({ eventId: call.messageId, destinationId: id, body }));
  });
  const bodies = new Map(obligations.map((one) => [owedTo(one), one.body]));
  const arrivals = entries.filter(isEvent).flatMap((entry): Arrival[] => {
    if (entry.what !== 'delivered' && entry.what !== 'dead') return [];
    const hasNoBody = entry.reason === 'user-deleted' && entry.body.length === 0;
    const body = hasNoBody ? (bodies.get(owedTo(entry)) ?? entry.body) : entry.body;
    return [{ ...entry, how: entry.what, body }];
  });
  const { missing, altered, unexpected } = judge(obligations, arrivals);
  const accepted = new Set(sends.filter(({ acceptedAt }) => acceptedAt !== undefined).map(idOf));
  const decided = new Set(decisions.map(owedTo));
  const routed = new Set(written.map(owedTo));
  const lost = missing.filter((one) => accepted.has(one.eventId) && !decided.has(owedTo(one)));
  return [
    ...lost.map((one): Violation => {
      const where = routed.has(owedTo(one)) ? 'is in deliveries' : 'was not routed';
      const says = `${owedTo(one)} was accepted and ${where}, and has neither arrived nor become a dead letter`;
      return { rule: 'lost', says };
    }),
    ...altered.map(({ expected, arrival }): Violation => {
      const [found, wanted] = [arrival, expected].map(({ body }) => String(body).slice(0, 200));
      return {
        rule: 'altered',
        says: `${owedTo(expected)} was ${arrival.how} as ${found}, not as ${wanted}`,
      };
    }),
    ...unexpected.map((one): Violation => ({
      rule: 'never sent',
      says: `${owedTo(one)} was ${one.how} and never sent`,
    })),
  ];
}

/** Each request has the signature of a secret that was in force. */
function signed({ entries, destinations }: Facts): Violation[] {
  const secretsOf = new Map(destinations.map(({ id, secrets }) => [id, secrets]));
  return entries.flatMap(({ what, destinationId, eventId, body, signature, askedAt }) => {
    if (what !== 'asked') return [];
    const secrets = secretsOf.get(destinationId) ?? [];
    const valid = secrets.filter(({ set }, nth) => {
      const replaced = secrets[nth + 1]?.set;
      return set.askedAt <= askedAt && (!replaced || askedAt <= replaced.answeredAt + inForceMs);
    });
    if (valid.some(({ secret }) => verifySignature(secret, body, signature))) return [];
    const says = `${eventId} at ${destinationId} had at ${clock(askedAt)} the signature ${signature ?? 'none'}, of no secret in force`;
    return [{ rule: 'badly signed', says }];
  });
}

/** Nothing is sent from two seconds after a pause or a disabling until its end. */
function silentWhileOff({ entries, trails, changes, episodes }: Facts): Violation[] {
  const startOf = starts(trails);
  const known = knownAt(episodes);
  return changes.flatMap(({ what, destinationId, begin, end }) => {
    if (what !== 'paused' && what !== 'disabled') return [];
    const during = entries.filter((entry) => {
      if (entry.what !== 'asked' || entry.destinationId !== destinationId) return false;
      const startedAt = startOf(entry);
      return startedAt > known(begin.answeredAt) && entry.askedAt < end.askedAt;
    });
    return during.map((entry): Violation => {
      const late = startOf(entry) - begin.answeredAt;
      return { rule: 'sent while off', says: `${owedTo(entry)} was sent ${late} ms after it was ${what}` };
    });
  });
}

/** Earlier events of a deleted user are not sent any more, and each destination is told of the deletion. */
function deleted(facts: Facts): Violation[] {
  const { sends, entries, trails, deletions, destinations, changes, episodes } = facts;
  const startOf = starts(trails);
  const known = knownAt(episodes);
  const sent = new Map(sends.map((send) => [idOf(send), send]));
  return deletions.flatMap(({ userId, askedAt, answeredAt }) => {
    const after = entries.filter((entry) => {
      const send = sent.get(entry.eventId);
      const isEarlier = send?.call.userId === userId && (send.acceptedAt ?? Infinity) < askedAt;
      return entry.what === 'asked' && isEarlier && startOf(entry) > known(answeredAt);
    });
    const told = new Set(
      entries
        .filter(({ what, eventId }) => eventId === `deletion of ${userId}` && isEnd(what))
        .map(({ destinationId }) => destinationId),
    );
    const untold = destinations.filter(({ id }) => {
      const disabled = changes.some(
        (change) => change.what === 'disabled' && isAround(change, id, askedAt, answeredAt),
      );
      return !told.has(id) && !disabled;
    });
    return [
      ...after.map((entry): Violation => {
        const late = startOf(entry) - answeredAt;
        const says = `${owedTo(entry)} was sent ${late} ms after the deletion of ${userId} was answered`;
        return { rule: 'sent after deletion', says };
      }),
      ...untold.map(({ id }): Violation => {
        return { rule: 'deletion not announced', says: `${id} was not told of the deletion of ${userId}` };
      }),
    ];
  });
}

/** Events that the filter excludes are not routed while it is in force. */
function filtered({ sends, written, changes, episodes }: Facts): Violation[] {
  const sent = new Map(sends.map((send) => [idOf(send), send]));
  return changes.flatMap(({ what, destinationId, begin, end }) => {
    if (what !== 'filtered') return [];
    const past = written.filter((record) => {
      const userId = sent.get(record.eventId)?.call.userId;
      const isDuring = possibleTimes(record.at, episodes).every(
        (at) => at > begin.answeredAt + inForceMs && at < end.askedAt,
      );
      return (
        record.destinationId === destinationId && isDuring && userId !== undefined && !passesFilter(userId)
      );
    });
    return past.map((record): Violation => {
      return { rule: 'routed past the filter', says: `${owedTo(record)} was routed at ${clock(record.at)}` };
    });
  });
}

/**
 * The events of a user are in `deliveries` in the order in which they were accepted, and a destination with `ordering: user` receives
 * one only after the end of the one before. Both hold within a partition of `events` and of `deliveries`, because a user moves to
 * another one when some are added.
 */
function inOrder({ sends, destinations, entries, decisions, written, episodes }: Facts): Violation[] {
  const sent = new Map(sends.map((send) => [idOf(send), send]));
  // What a router that died had decided against, the next one may route by a newer configuration.
  const decided = new Set(decisions.map(owedTo));
  const ordered = new Set(destinations.filter((one) => one.ordered).map(({ id }) => id));
  const firstRequest = firstOf(entries.filter(({ what }) => what === 'asked'));
  const firstEnd = firstOf(
    entries
      .filter(({ what }) => isEnd(what))
      .map((end) => {
        // A dead letter has the time of the clock of its writer.
        const times = end.what === 'dead' ? possibleTimes(end.askedAt, episodes) : [end.askedAt];
        return { ...end, askedAt: Math.min(...times) };
      }),
  );
  const first = new Map<string, Written>();
  // Routed again after partitions were added: there its request does not wait for those before it here.
  const elsewhere = new Set<string>();
  for (const record of written.toSorted(byPosition)) {
    const { partition } = first.get(owedTo(record)) ?? record;
    if (!first.has(owedTo(record))) first.set(owedTo(record), record);
    else if (record.partition !== partition) elsewhere.add(owedTo(record));
  }
  const lines = Map.groupBy(
    [...first.values()].filter((record) => sent.has(record.eventId) && !decided.has(owedTo(record))),
    ({ eventId, destinationId, partition, eventPartition }) =>
      [destinationId, partition, eventPartition, sent.get(eventId)?.call.userId].join(' '),
  );
  const found: Violation[] = [];
  for (const line of lines.values()) {
    for (const [nth, later] of line.entries()) {
      const earlier = line[nth - 1];
      if (!earlier) continue;
      const [before, after] = [earlier, later].map(({ eventId }) => sent.get(eventId)?.number ?? NaN);
      if (Number(after) < Number(before)) {
        const says = `${owedTo(later)} was routed after ${earlier.eventId}, and accepted before`;
        found.push({ rule: 'out of order', says });
      }
      if (!ordered.has(later.destinationId) || elsewhere.has(owedTo(later))) continue;
      const began = firstRequest.get(owedTo(later)) ?? Infinity;
      if (began >= (firstEnd.get(owedTo(earlier)) ?? Infinity)) continue;
      const says = `${owedTo(later)} was sent at ${clock(began)}, before ${earlier.eventId} had ended`;
      found.push({ rule: 'out of order', says });
    }
  }
  return found;
}

/**
 * An event is routed to a destination again only where a router was disturbed, or where its call was sent again and is in another
 * partition, because some were added: repeats are recognised within a partition.
 */
function routedOnce({ written, routerDisruptions, episodes }: Facts): Violation[] {
  const all = Map.groupBy(written, (record) => `${owedTo(record)} ${record.eventPartition}`);
  return [...all.values()].flatMap((records) => {
    const [{ eventId, destinationId }] = records as [Written, ...Written[]];
    const owed = owedTo({ eventId, destinationId });
    // By their place, as far as it shows: the clock of a router may be wrong.
    const times = records
      .toSorted((a, b) => (a.partition === b.partition ? a.offset - b.offset : a.at - b.at))
      .map(({ at }) => at);
    return times.slice(1).flatMap((again, nth): Violation[] => {
      const before = times[nth] ?? NaN;
      const [first = [], second = []] = [before, again].map((at) => possibleTimes(at, episodes));
      const hasCause = routerDisruptions.some(
        ({ from, until }) =>
          first.some((at) => from - repeatableMs <= at && at <= until + repeatableMs) &&
          second.some((at) => at >= from),
      );
      const says = `${owed} was routed at ${clock(before)} and at ${clock(again)}`;
      return hasCause ? [] : [{ rule: 'repeated without cause', says }];
    });
  });
}

/** The reason of each dead letter is true. */
function deadForAReason({ sends, entries, deletions, changes, episodes }: Facts): Violation[] {
  const sent = new Map(sends.map((send) => [idOf(send), send]));
  const failed = new Set(entries.filter(({ what }) => what === 'failed').map(owedTo));
  const failing = new Set(entries.filter(({ what }) => what === 'failed').map((one) => one.destinationId));
  const clockWasWrong = episodes.some(({ fault }) => fault.kind === 'clock jumped');
  const isTrue = (entry: Entry): boolean => {
    switch (entry.reason ?? '') {
      case 'user-deleted': {
        const userId = sent.get(entry.eventId)?.call.userId;
        return deletions.some((deletion) => deletion.userId === userId);
      }
      case 'destination-disabled':
        return changes.some((one) => one.what === 'disabled' && one.destinationId === entry.destinationId);
      case 'circuit-open':
        return failing.has(entry.destinationId);
      case 'window-exceeded':
        return failed.has(owedTo(entry)) || clockWasWrong;
      default:
        return failed.has(owedTo(entry));
    }
  };
  return entries
    .filter((entry) => entry.what === 'dead' && !isTrue(entry))
    .map((entry): Violation => {
      return {
        rule: 'wrong reason',
        says: `${owedTo(entry)} is a dead letter with the reason ${entry.reason ?? 'none'}`,
      };
    });
}

/** The reason of each decision is true at that time. */
function decidedForAReason({ sends, decisions, changes, episodes }: Facts): Violation[] {
  const sent = new Map(sends.map((send) => [idOf(send), send]));
  return decisions.flatMap((decided): Violation[] => {
    const { eventId, destinationId, reason, at } = decided;
    const send = sent.get(eventId);
    const latest = Math.max(...possibleTimes(at, episodes));
    const was = (what: Change['what']): boolean =>
      changes.some((one) => one.what === what && isAround(one, destinationId, send?.askedAt ?? at, latest));
    const isTrue =
      (reason === 'disabled' && was('disabled')) ||
      (reason === 'filter' && was('filtered') && !passesFilter(send?.call.userId ?? ''));
    const says = `${owedTo(decided)} was decided against at ${clock(at)} with the reason ${reason}`;
    return isTrue ? [] : [{ rule: 'wrong reason', says }];
  });
}

/** No attempt is made after the window, which begins again only for what was paused or waited for a breaker. */
function inTime({ entries, changes }: Facts): Violation[] {
  const first = firstOf(entries.filter(({ what }) => what === 'asked'));
  return entries.flatMap((entry): Violation[] => {
    const after = entry.askedAt - (first.get(owedTo(entry)) ?? NaN);
    const restarted = changes.some(
      (one) => one.what === 'paused' && one.destinationId === entry.destinationId,
    );
    if (entry.what !== 'asked' || restarted || after <= windowMs) return [];
    return [{ rule: 'too late', says: `${owedTo(entry)} was sent ${after} ms after its first attempt` }];
  });
}

/** What the API says of an event is what happened. */
function explained({ sends, entries, decisions, explanations, destinations }: Facts): Violation[] {
  const sent = new Map(sends.map((send) => [idOf(send), send]));
  const delivered = new Set(entries.filter(({ what }) => what === 'delivered').map(owedTo));
  const dead = new Set(entries.filter(({ what }) => what === 'dead').map(owedTo));
  const decided = new Set(decisions.map(owedTo));
  return explanations.flatMap(({ eventId, ends }) =>
    destinationsOf(destinations, sent.get(eventId)?.source ?? '').flatMap(({ id }): Violation[] => {
      const owed = owedTo({ eventId, destinationId: id });
      const says = ends[id] ?? 'nothing';
      const isTrue =
        (says === 'delivered' && delivered.has(owed)) ||
        (says === 'dead' && dead.has(owed)) ||
        (says === 'filtered' && decided.has(owed)) ||
        // It has ended, and the record of its last attempt was lost with the process.
        (says === 'unknown' && (delivered.has(owed) || dead.has(owed)));
      return isTrue ? [] : [{ rule: 'wrong explanation', says: `${owed} is ${says} in the API` }];
    }),
  );
}

/** When the attempt began that made the request: by the log of the service, or else when the receiver read it. */
function starts(trails: readonly Trail[]): (entry: Entry) => number {
  const attempts = new Map(trails.map(({ delivery, attempts }) => [delivery, attempts]));
  return (entry) => {
    const { askedAt } = entry;
    const covering = (attempts.get(owedTo(entry)) ?? []).filter(
      ({ from, until, timedOut }) => from <= askedAt && (timedOut || askedAt <= until + busyReceiverMs),
    );
    return covering.length > 0 ? Math.max(...covering.map(({ from }) => from)) : askedAt;
  };
}

/** When all replicas of delivery know what was answered at some time. One that was frozen then learns it when it runs again. */
function knownAt(episodes: Facts['episodes']): (answeredAt: number) => number {
  const frozen = episodes.filter(
    ({ fault }) => fault.kind === 'service frozen' && fault.target.startsWith('delivery-'),
  );
  return (answeredAt) => {
    const during = frozen.filter((one) => one.beganAt <= answeredAt + inForceMs && answeredAt < one.endedAt);
    return Math.max(answeredAt, ...during.map(({ endedAt }) => endedAt)) + inForceMs;
  };
}

/** Whether the change may have been in force at some time between the two. */
function isAround(change: Change, destinationId: string, from: number, until: number): boolean {
  const isOver = change.end.answeredAt + inForceMs < from;
  return change.destinationId === destinationId && change.begin.askedAt <= until && !isOver;
}

/** When each obligation was asked for first. */
function firstOf(entries: readonly Entry[]): Map<string, number> {
  const first = new Map<string, number>();
  for (const entry of entries) {
    const key = owedTo(entry);
    first.set(key, Math.min(first.get(key) ?? Infinity, entry.askedAt));
  }
  return first;
}

function byPosition(a: Written, b: Written): number {
  return a.partition - b.partition || a.offset - b.offset;
}

function isEnd(what: Entry['what']): boolean {
  return what === 'delivered' || what === 'dead';
}

function isEvent({ eventId }: Entry): boolean {
  return !eventId.startsWith('deletion of ');
}

function idOf({ call }: Send): string {
  return call.messageId;
}

function clock(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}
