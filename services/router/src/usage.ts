/**
 * The usage of each source: calls by type, and track calls by the name of their event. Counts are kept in memory and published
 * to the topic `usage` about once a second, as increments. The cost does not grow with the number of calls, and routers do not
 * depend on each other.
 *
 * Routing does not wait for usage and does not fail by it. While Kafka is unavailable, counting continues in the same maps,
 * which are bounded: events whose names are beyond a limit are counted together.
 */
import { isTailraceError } from '@tailrace/errors';
import { formatInstant, type EventType, type TailraceEvent } from '@tailrace/events';
import type { OutgoingRecord } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import { maxStoredLength, type UsageRecord } from '@tailrace/records';

export type UsageCounter = ReturnType<typeof startUsage>;

export interface UsageOptions {
  readonly topic: string;
  /** Retries without a limit: the counts of an outage of Kafka are published after it. */
  readonly publish: (record: OutgoingRecord) => Promise<void>;
  readonly log: Pick<Log, 'warn'>;
  readonly now?: () => number;
  readonly intervalMs?: number;
}

/** Event names that are kept at a time, over all sources, and their characters, because a name may be long. */
const maxKept = { names: 10_000, characters: 2 ** 20 };
/** Counts are published early above this size. */
const publishAbove = { names: 5_000, characters: 2 ** 19 };
/** Keeps a record far below the limit of the topic. */
const maxPerRecord = { names: 1_000, characters: 128 * 1024 };
/**
 * Names of a source and day that are counted one by one, each of this length at most: any client with a public write key can send any
 * number of names, and the counts are kept for 90 days.
 */
const maxPerDay = { names: 500, characters: maxStoredLength };
/** Names of all sources of the day that are known in memory. */
const maxKnownNames = 50_000;
const dayMs = 86_400_000;

interface EventCount {
  calls: number;
  filtered: number;
  firstAt: number;
  lastAt: number;
}

interface SourceCount {
  readonly sourceId: string;
  /** Days since the epoch. */
  readonly day: number;
  readonly calls: Map<Exclude<EventType, 'delete'>, number>;
  filtered: number;
  readonly events: Map<string, EventCount>;
  /** Events of names that are not counted one by one. */
  other: EventCount | undefined;
}

export function startUsage({ topic, publish, log, now = Date.now, intervalMs = 1_000 }: UsageOptions) {
  let sources = new Map<string, SourceCount>();
  /** Counts of earlier days that have not been published yet. */
  let earlierDays: SourceCount[] = [];
  let kept = { names: 0, characters: 0 };
  let publishing: Promise<void> | undefined;
  /** The names of the day that are counted one by one, by source. */
  let known = { day: 0, names: new Map<string, Set<string>>(), total: 0 };

  const publishAll = async (): Promise<void> => {
    const records = [...earlierDays, ...sources.values()].flatMap(recordsOf);
    sources = new Map();
    earlierDays = [];
    kept = { names: 0, characters: 0 };
    const outcomes = await Promise.allSettled(
      records.map((record) => publish({ topic, key: record.sourceId, value: JSON.stringify(record) })),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue;
      if (!isTailraceError(outcome.reason)) throw outcome.reason;
      log.warn({ err: outcome.reason, topic }, 'usage counts dropped');
    }
  };

  /** Publishes unless an earlier publish is unacknowledged: during an outage of Kafka, counts stay in the bounded maps. */
  const publishWhenIdle = (): void => {
    if (publishing || sources.size === 0) return;
    publishing = publishAll().finally(() => {
      publishing = undefined;
    });
  };

  const countOf = (sourceId: string, day: number): SourceCount => {
    const known = sources.get(sourceId);
    if (known?.day === day) return known;
    if (known) earlierDays.push(known);
    const count: SourceCount = {
      sourceId,
      day,
      calls: new Map(),
      filtered: 0,
      events: new Map(),
      other: undefined,
    };
    sources.set(sourceId, count);
    return count;
  };

  /** Whether events of this name are counted one by one. */
  const isCountedAlone = (sourceId: string, day: number, name: string): boolean => {
    if (name.length > maxPerDay.characters) return false;
    if (known.day !== day) known = { day, names: new Map(), total: 0 };
    const names = known.names.get(sourceId) ?? new Set<string>();
    if (names.has(name)) return true;
    if (names.size >= maxPerDay.names || known.total >= maxKnownNames) return false;
    known.names.set(sourceId, names.add(name));
    known.total += 1;
    return true;
  };

  const addEvent = (source: SourceCount, name: string, filtered: number, at: number): void => {
    const counted = source.events.get(name);
    const isFull = kept.names >= maxKept.names || kept.characters + name.length > maxKept.characters;
    if (!counted && (isFull || !isCountedAlone(source.sourceId, source.day, name))) {
      source.other = withOne(source.other, filtered, at);
      return;
    }
    source.events.set(name, withOne(counted, filtered, at));
    if (counted) return;
    kept.names += 1;
    kept.characters += name.length;
    if (kept.names >= publishAbove.names || kept.characters >= publishAbove.characters) publishWhenIdle();
  };

  const timer = setInterval(publishWhenIdle, intervalMs).unref();

  return {
    /** Counts an event that is valid and new. `delete` events are not counted. */
    count(sourceId: string, event: TailraceEvent, isFiltered: boolean): void {
      if (event.type === 'delete') return;
      const at = now();
      const source = countOf(sourceId, Math.floor(at / dayMs));
      const filtered = isFiltered ? 1 : 0;
      source.calls.set(event.type, (source.calls.get(event.type) ?? 0) + 1);
      source.filtered += filtered;
      if (event.type === 'track') addEvent(source, event.event, filtered, at);
    },
    /** Publishes the last counts. The caller closes the publisher, which waits until they are acknowledged. */
    stop(): void {
      clearInterval(timer);
      void publishAll();
    },
  };
}

/** Adds a call to a count, which begins with it where there is none. */
function withOne(known: EventCount | undefined, filtered: number, at: number): EventCount {
  const count = known ?? { calls: 0, filtered: 0, firstAt: at, lastAt: at };
  count.calls += 1;
  count.filtered += filtered;
  count.lastAt = at;
  return count;
}

/** The records of one source: several where it has many event names; the first of them has the totals. */
function recordsOf({ sourceId, day, calls, filtered, events, other }: SourceCount): UsageRecord[] {
  const portions: UsageRecord['events'][number][][] = [[]];
  let characters = 0;
  for (const [event, count] of events) {
    let portion = portions.at(-1) ?? [];
    if (portion.length >= maxPerRecord.names || characters + event.length > maxPerRecord.characters) {
      if (portion.length > 0) portions.push((portion = []));
      characters = 0;
    }
    characters += event.length;
    portion.push({ event, ...shown(count) });
  }
  return portions.map((portion, index) => ({
    sourceId,
    day: formatInstant(day * dayMs).slice(0, 10),
    calls: index === 0 ? Object.fromEntries(calls) : {},
    filtered: index === 0 ? filtered : 0,
    events: portion,
    ...(index === 0 && other && { otherEvents: shown(other) }),
  }));
}

function shown({ firstAt, lastAt, ...counts }: EventCount) {
  return { ...counts, firstAt: formatInstant(firstAt), lastAt: formatInstant(lastAt) };
}
