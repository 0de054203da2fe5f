/**
 * What each source used: calls by type, and by name of event for track calls. It is counted in memory and told to the
 * topic `usage` about once a second, as what came in since, so that its cost does not grow with the calls, and many
 * routers need to know nothing of each other.
 *
 * Nothing waits for it and nothing fails by it: while it cannot be told, counting goes on in the same maps. They are
 * bounded; a name of an event that has no room any more still counts for its source.
 */
import { isTailraceError } from '@tailrace/errors';
import { formatInstant, type EventType, type TailraceEvent } from '@tailrace/events';
import type { OutgoingRecord } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { UsageRecord } from '@tailrace/topics';

export interface UsageCounter {
  /** Counts an event of the source that is valid and new. Deletion notices are not counted. */
  count(sourceId: string, event: TailraceEvent, filtered: boolean): void;
  /** Tells what was counted last; whoever gave `publish` waits until it is taken. */
  stop(): void;
}

export interface UsageOptions {
  readonly topic: string;
  /** Tries for ever: what was counted while Kafka was away is told when it is back. */
  readonly publish: (record: OutgoingRecord) => Promise<void>;
  readonly log: Pick<Log, 'warn'>;
  readonly now?: () => number;
  readonly intervalMs?: number;
}

/** Names of events that are held at a time, over all sources; and their characters, since a name may have many. */
const most = { names: 10_000, characters: 2 ** 20 };
/** Room is made before it runs out. */
const early = { names: 5_000, characters: 2 ** 19 };
/** A record stays far below what the topic takes. */
const mostPerRecord = { names: 1_000, characters: 128 * 1024 };
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
}

export function startUsage({
  topic,
  publish,
  log,
  now = Date.now,
  intervalMs = 1_000,
}: UsageOptions): UsageCounter {
  let sources = new Map<string, SourceCount>();
  /** Counts of a day that is over, and that could not be told yet. */
  let earlier: SourceCount[] = [];
  let held = { names: 0, characters: 0 };
  let telling: Promise<void> | undefined;

  const tell = (): Promise<void> => {
    const records = [...earlier, ...sources.values()].flatMap(recordsOf);
    sources = new Map();
    earlier = [];
    held = { names: 0, characters: 0 };
    const told = Promise.allSettled(
      records.map((record) => publish({ topic, key: record.sourceId, value: JSON.stringify(record) })),
    );
    return told.then((outcomes) => {
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') continue;
        if (!isTailraceError(outcome.reason)) throw outcome.reason;
        log.warn({ err: outcome.reason, topic }, 'usage of the last seconds was not kept');
      }
    });
  };

  /** One telling at a time: what is counted while Kafka is away waits in the maps, which are bounded. */
  const tellSoon = (): void => {
    if (telling || sources.size === 0) return;
    telling = tell().finally(() => {
      telling = undefined;
    });
  };

  const countOf = (sourceId: string, day: number): SourceCount => {
    const known = sources.get(sourceId);
    if (known?.day === day) return known;
    if (known) earlier.push(known);
    const count: SourceCount = { sourceId, day, calls: new Map(), filtered: 0, events: new Map() };
    sources.set(sourceId, count);
    return count;
  };

  const addEvent = (events: Map<string, EventCount>, name: string, filtered: number, at: number): void => {
    const known = events.get(name);
    if (known) {
      known.calls += 1;
      known.filtered += filtered;
      known.lastAt = at;
      return;
    }
    if (held.names >= most.names || held.characters + name.length > most.characters) return;
    events.set(name, { calls: 1, filtered, firstAt: at, lastAt: at });
    held.names += 1;
    held.characters += name.length;
    if (held.names >= early.names || held.characters >= early.characters) tellSoon();
  };

  const timer = setInterval(tellSoon, intervalMs).unref();

  return {
    count(sourceId, event, isFiltered) {
      if (event.type === 'delete') return;
      const at = now();
      const source = countOf(sourceId, Math.floor(at / dayMs));
      const filtered = isFiltered ? 1 : 0;
      source.calls.set(event.type, (source.calls.get(event.type) ?? 0) + 1);
      source.filtered += filtered;
      if (event.type === 'track') addEvent(source.events, event.event, filtered, at);
    },
    stop() {
      clearInterval(timer);
      void tell();
    },
  };
}

/** What was counted of one source; several where it has many names of events, the first of which has the totals. */
function recordsOf({ sourceId, day, calls, filtered, events }: SourceCount): UsageRecord[] {
  const portions: UsageRecord['events'][number][][] = [[]];
  let characters = 0;
  for (const [event, { firstAt, lastAt, ...counts }] of events) {
    let portion = portions.at(-1) ?? [];
    if (portion.length >= mostPerRecord.names || characters + event.length > mostPerRecord.characters) {
      if (portion.length > 0) portions.push((portion = []));
      characters = 0;
    }
    characters += event.length;
    portion.push({ event, ...counts, firstAt: formatInstant(firstAt), lastAt: formatInstant(lastAt) });
  }
  return portions.map((portion, index) => ({
    sourceId,
    day: formatInstant(day * dayMs).slice(0, 10),
    calls: index === 0 ? Object.fromEntries(calls) : {},
    filtered: index === 0 ? filtered : 0,
    events: portion,
  }));
}
