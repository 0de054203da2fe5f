/**
 * Reads the calls of the sources that somebody watches, and what becomes of them (streams/watches.ts). The number of calls whose fate is
 * still followed is bounded.
 */
import type { ConfigView } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import { decodeDecision, formatPosition, waitingPlaceOf } from '@tailrace/records';
import { lookUpSource, sourceReference } from '@tailrace/routing';
import type { Log } from '@tailrace/service';
import type { TopicNames } from '@tailrace/topology';
import { amounts } from '../access/shared.ts';
import { Watches, type Viewer, type Watched as WatchedBy, type Watcher } from '../streams/watches.ts';
import { LiveCall, parse } from './call.ts';
import { Fate } from './fate.ts';

export interface FeedNeeds {
  readonly kafka: Pick<Kafka, 'tail' | 'offsets' | 'inspectGroup'>;
  readonly names: Pick<
    TopicNames,
    'events' | 'eventsWaiting' | 'eventsRejected' | 'deliveries' | 'decisions'
  >;
  /** The consumer group of the router. */
  readonly routerGroup: string;
  readonly config: Pick<ConfigView, 'source' | 'sourceByWriteKey'>;
  readonly log: Pick<Log, 'warn'>;
}

/** A call that was shown, and to whom. */
interface Shown {
  readonly call: LiveCall;
  readonly watched: Watched;
  readonly to: ReadonlySet<Viewer>;
  /** Of its record. */
  readonly partition: number;
  readonly offset: number;
  /** Whether its fate, if it came before the call, is known. */
  readonly isComplete: boolean;
}

/** What is kept of a source that is watched. */
interface Followed {
  /** By position in `events`, the oldest first. */
  readonly shown: Map<string, Shown>;
  /** The fates of calls that were not shown, or are read after their fates: brokers answer beside each other. The oldest first. */
  readonly others: Map<string, { readonly fate: Fate; readonly at: number }>;
  /** When a fate was forgotten that was so young that its call may come after it. */
  forgotAt: number;
}

type Watched = WatchedBy & Followed;

/** A fate comes at most so much before its call, with a margin. */
const youngMs = 2_000;
const { followed } = amounts.calls;

export class CallFeed {
  readonly #needs: FeedNeeds;
  readonly #watches: Watches<Followed>;
  readonly #changed = new Set<Shown>();
  #isConcluding = false;

  constructor(needs: FeedNeeds) {
    this.#needs = needs;
    const { events, eventsWaiting, eventsRejected, deliveries, decisions } = needs.names;
    this.#watches = new Watches({
      kafka: needs.kafka,
      topics: [events, eventsWaiting, eventsRejected, deliveries, decisions],
      limits: amounts.calls,
      newState: () => ({ shown: new Map(), others: new Map(), forgotAt: -Infinity }),
      onRecord: (record) => this.#take(record),
      onRead: () => {
        for (const shown of this.#changed) this.#show(shown);
        this.#changed.clear();
      },
      onTick: () => {
        if (!this.#isConcluding) void this.#conclude();
      },
    });
  }

  /**
   * Resolves when the calls of the source are being read, with a function that ends it.
   *
   * @throws TailraceError `kafka-unavailable`
   */
  watch(sourceId: string, watcher: Watcher): Promise<() => void> {
    return this.#watches.watch(sourceId, watcher);
  }

  #take(record: ConsumedRecord): void {
    const { names } = this.#needs;
    const { topic, headers } = record;
    const watched = this.#watches.get(this.#sourceOf(record) ?? '');
    if (!watched) return;
    if (topic === names.events) {
      this.#takeCall(watched, record);
    } else if (topic === names.eventsRejected) {
      this.#takeRejection(watched, record);
    } else if (topic === names.eventsWaiting) {
      const place = waitingPlaceOf(record);
      if (place)
        this.#fateOf(watched, formatPosition({ ...place, partition: record.partition })).isWaiting = true;
    } else {
      const position = headers['event-position']?.toString();
      if (position === undefined) return;
      const fate = this.#fateOf(watched, position);
      if (topic === names.decisions) fate.decision = decodeDecision(record);
      else fate.addDestination(String(headers['destination-id']));
    }
  }

  #sourceOf({ headers, value }: ConsumedRecord): string | undefined {
    const named = sourceReference(headers, undefined);
    if (named?.by === 'id') return named.value;
    // A producer that sets no headers may name it in the call.
    const isInCall = value?.includes('"writeKey"') ?? false;
    const reference = named ?? (isInCall ? sourceReference(headers, parse(value)) : undefined);
    const found = reference && lookUpSource(reference, this.#needs.config);
    return found && found.outcome !== 'unknown' ? found.source.id : undefined;
  }

  #takeRejection(watched: Watched, record: ConsumedRecord): void {
    const { headers } = record;
    const header = (name: string): string => String(headers[name] ?? '');
    const status = headers['status'] ? Number(header('status')) : undefined;
    const rejection = { code: header('error-code'), message: header('error-message'), status };
    if (headers['origin-topic']?.toString() === this.#needs.names.events) {
      const position = `${header('origin-partition')}/${header('origin-offset')}`;
      this.#fateOf(watched, position).rejection = rejection;
    } else if (header('origin') === 'ingest') {
      const fate = new Fate();
      fate.rejection = rejection;
      this.#showFirst(watched, record, { id: `rejected/${formatPosition(record)}`, fate });
    }
  }

  #takeCall(watched: Watched, record: ConsumedRecord): void {
    const position = formatPosition(record);
    const known = watched.others.get(position);
    const call = { id: `events/${position}`, fate: known?.fate ?? new Fate() };
    const shown = this.#showFirst(watched, record, call);
    if (!shown) return;
    watched.others.delete(position);
    watched.shown.set(position, shown);
    if (watched.shown.size > this.#watches.partOf(followed)) forgetOldest(watched.shown);
  }

  /** Shows a call to those who watch for it. Undefined where there is nobody. */
  #showFirst(
    watched: Watched,
    record: ConsumedRecord,
    { id, fate }: { readonly id: string; readonly fate: Fate },
  ): Shown | undefined {
    const may = [...watched.viewers].filter((viewer) => mayWant(viewer, record.value));
    if (may.length === 0 || !this.#watches.mayLook(watched, record, may)) return undefined;
    const call = new LiveCall(id, watched.id, record, fate);
    const to = new Set<Viewer>();
    for (const viewer of may) {
      if (!wants(viewer, call) || !this.#watches.maySend(viewer)) continue;
      to.add(viewer);
      viewer.send(call.lineFor(viewer.caller));
    }
    call.renew();
    if (to.size === 0) return undefined;
    const { partition, offset } = record;
    const isComplete = performance.now() - watched.forgotAt > youngMs;
    return { call, watched, to, partition, offset, isComplete };
  }

  /** Shows what has changed. */
  #show({ call, watched, to }: Shown): void {
    call.renew();
    for (const viewer of to) if (watched.viewers.has(viewer)) viewer.send(call.lineFor(viewer.caller));
  }

  /** To be changed by the caller. */
  #fateOf(watched: Watched, position: string): Fate {
    const shown = watched.shown.get(position);
    if (shown) {
      this.#changed.add(shown);
      return shown.call.fate;
    }
    const now = performance.now();
    const { others } = watched;
    const other = others.get(position) ?? { fate: new Fate(), at: now };
    others.set(position, other);
    if (others.size > this.#watches.partOf(followed)) {
      const forgotten = forgetOldest(others);
      if (forgotten && now - forgotten.at < youngMs) watched.forgotAt = now;
    }
    return other.fate;
  }

  /** A call of which the router has finished the record, and written nothing, is a repeat. */
  async #conclude(): Promise<void> {
    const { kafka, routerGroup, names, log } = this.#needs;
    const open = this.#watches.all().flatMap(({ shown }) => [...shown.values()].filter(isOpen));
    if (open.length === 0) return;
    this.#isConcluding = true;
    try {
      const { heads } = await kafka.inspectGroup(routerGroup, [names.events]);
      const head = heads.get(names.events);
      const finished = open.filter(({ partition, offset }) => (head?.get(partition) ?? Infinity) > offset);
      if (finished.length === 0) return;
      await this.#watches.refresh();
      for (const shown of finished) {
        if (!isOpen(shown)) continue;
        shown.call.fate.isRepeated = true;
        this.#show(shown);
      }
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      log.warn({ err: error }, 'progress of the router not known');
    } finally {
      this.#isConcluding = false;
    }
  }
}

/** The first entry that was set. */
function forgetOldest<Value>(map: Map<string, Value>): Value | undefined {
  for (const [key, value] of map) {
    map.delete(key);
    return value;
  }
  return undefined;
}

function isOpen({ call, isComplete }: Shown): boolean {
  return isComplete && call.fate.outcome === 'accepted';
}

/** Whether the bytes may be of such a call, before they are parsed. */
function mayWant({ event, userId }: Watcher, value: Buffer | null): boolean {
  return [event, userId].every(
    (wanted) => wanted === undefined || value?.includes(JSON.stringify(wanted).slice(1, -1)) === true,
  );
}

function wants({ event, userId }: Watcher, call: LiveCall): boolean {
  return (event === undefined || event === call.event) && (userId === undefined || userId === call.userId);
}
