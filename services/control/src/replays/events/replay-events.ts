/**
 * Replays past events to one destination: reads them again, and publishes a delivery for each that is due.
 *
 * The records of the replay topic are the only record of the progress. Each names its replay, so that another instance continues
 * without a gap or a repeat: it opens the writer, which fences the instance before it, and then reads what was sent.
 */
import type { ConfigView, Destination } from '@tailrace/config';
import {
  PacedWriter,
  pause,
  requireReplayTopic,
  type ReplayWriter,
  type Replayed,
  type WriterSession,
} from '@tailrace/deadletters';
import { TailraceError } from '@tailrace/errors';
import { formatInstant } from '@tailrace/events';
import { readIfAvailable, type History } from '@tailrace/history';
import type { Kafka, Partitioner } from '@tailrace/kafka';
import { encodeDelivery, formatPosition, replayedByHeader, replayIdHeader } from '@tailrace/records';
import type { FrameReader } from '@tailrace/registry';
import { hasTransform, transformDelivery, type Transforms } from '@tailrace/transform';
import { EventCounts } from './counts.ts';
import type { EventSelection, EventTally } from './selection.ts';
import { createSelector, type SelectedEvent, type SelectorDependencies } from './selector.ts';
import { finishedUpTo, readSent, type Due, type SentDeliveries, type SentDependencies } from './sent.ts';

export interface EventReplayDependencies extends SelectorDependencies, SentDependencies {
  readonly kafka: SentDependencies['kafka'] &
    Pick<Kafka, 'exclusivePublisher' | 'describeTopics' | 'partitioner'>;
  readonly config: SelectorDependencies['config'] & Pick<ConfigView, 'refresh'>;
  readonly frames: Pick<FrameReader, 'read' | 'fetchSchema'>;
  readonly history: Pick<History, 'read'>;
  readonly transforms: Pick<Transforms, 'run'>;
}

export interface EventReplayOrder {
  readonly id: string;
  readonly selection: EventSelection;
  readonly ratePerSecond: number;
  /** Count only. */
  readonly dryRun: boolean;
  readonly by?: string | undefined;
  /** Of the instance that has begun it. */
  readonly tally?: EventTally | undefined;
  /** Ends the replay after the batch in flight. */
  readonly signal: AbortSignal;
  readonly writer: ReplayWriter;
  readonly onTally: (tally: EventTally) => Promise<void>;
  /** Called with the number of all events that the replay has sent. */
  readonly onReplayed: (replayed: number) => void;
}

const mostRows = 2_000;
const maxName = 200;
/** Live deliveries do not wait for longer than these take: so many are pending while the replay publishes more. */
const aheadSeconds = 2;
const leastAhead = 100;
const lookAgainMs = 250;
/** Of the router, unless it is behind. */
const commitsWithinMs = 5_000;
/** Reasons of deliveries that the destination does not take now. Those that wait for a later attempt do not count. */
const waitsForAnAttempt: ReadonlySet<string> = new Set(['', 'paused', 'circuit-open', 'lane-full', 'behind']);
/** Of the rate limit of the destination; the rest is left to live deliveries. */
const shareOfRateLimit = 0.5;

/** Whether it was interrupted. */
export async function replayEvents(deps: EventReplayDependencies, order: EventReplayOrder): Promise<boolean> {
  const { kafka, names } = deps;
  const { dryRun, writer, signal } = order;
  await requireReplayTopic(kafka, names);
  if (dryRun) {
    await deps.config.refresh();
    await countEvents(deps, order);
    return signal.aborted;
  }
  const replay = new EventReplay(deps, order, await kafka.partitioner(names.deliveriesReplay));
  return writer.run({
    pass: (session) => replay.pass(session),
    idleMs: () => replay.idleMs,
    signal,
    stopped: () => true,
  });
}

/** Undefined where it was interrupted. */
async function countEvents(
  deps: EventReplayDependencies,
  order: EventReplayOrder,
): Promise<EventTally | undefined> {
  const { kafka, names } = deps;
  const { topic, from, ends: wanted = [] } = order.selection;
  // Before what was sent is read: everything that is routed by now has its delivery in the topic.
  const ends = new Map(await endsOf(kafka, topic ?? names.events));
  for (const [partition, end] of wanted) ends.set(partition, Math.min(end, ends.get(partition) ?? end));
  if (topic === undefined) {
    const routed = await routedEnds(deps, ends, order.signal);
    for (const [partition, end] of ends) ends.set(partition, Math.min(end, routed.get(partition) ?? 0));
  }
  const starts = await kafka.offsetsAt(topic ?? names.events, from);
  const sent = await readSent(deps, order.selection, order.id);
  const counts = new EventCounts(mostRows);
  const { isComplete, unreadable, expired } = await eachDue(
    deps,
    { ...order, ends, sent },
    ({ event, at }) => {
      const name = event.type === 'track' ? event.event.slice(0, maxName) : undefined;
      const day = formatInstant(at).slice(0, 'yyyy-mm-dd'.length);
      counts.add({ day, type: event.type, event: name, events: 1 });
      return true;
    },
  );
  if (!isComplete) return undefined;
  const before = await endsOf(kafka, names.deliveriesReplay);
  const tally = {
    events: counts.events,
    rows: counts.rows,
    unreadable,
    expired,
    starts: [...starts],
    before: [...before],
    ends: [...ends],
  };
  await order.onTally(tally);
  return tally;
}

class EventReplay {
  readonly #deps: EventReplayDependencies;
  readonly #order: EventReplayOrder;
  readonly #partitioner: Partitioner;
  #tally: EventTally | undefined;
  #lastReplayAt = performance.now();

  constructor(deps: EventReplayDependencies, order: EventReplayOrder, partitioner: Partitioner) {
    this.#deps = deps;
    this.#order = order;
    this.#partitioner = partitioner;
    this.#tally = order.tally;
  }

  get idleMs(): number {
    return performance.now() - this.#lastReplayAt;
  }

  /** Sends everything that is due. Whether it was interrupted. */
  async pass(session: WriterSession): Promise<boolean> {
    const { selection, id, signal, onReplayed } = this.#order;
    // Another instance may have enabled the destination a moment ago.
    await this.#deps.config.refresh();
    this.#tally ??= await countEvents(this.#deps, this.#order);
    if (!this.#tally) return true;
    this.#requireEnabled();
    await this.#requireProgress(this.#tally);
    const sent = await readSent(this.#deps, selection, id);
    // To count and to read what was sent is progress too.
    this.#lastReplayAt = performance.now();
    let replayed = sent.ofThis;
    onReplayed(replayed);
    const writer = new PacedWriter<Replayed>({
      ratePerSecond: () => this.#ratePerSecond(),
      signal,
      bytesOf: ({ record }) => record.value?.length ?? 0,
      ready: () => this.#untilReady(),
      publish: async (batch) => {
        replayed += await session.publish(batch);
        this.#lastReplayAt = performance.now();
        onReplayed(replayed);
      },
    });
    const work = { ...this.#order, ends: new Map(this.#tally.ends), sent };
    const { isComplete, expired } = await eachDue(this.#deps, work, async (selected, due) => {
      const found = await this.#replayedOf(selected, due);
      this.#lastReplayAt = performance.now();
      return !found || writer.add(found);
    });
    if (!isComplete || !(await writer.flush())) return true;
    await this.#requireAll(this.#tally, sent.ofThis, expired);
    return false;
  }

  /**
   * A replay that was paused for longer than the replay topic keeps its records would send events again.
   *
   * @throws TailraceError `expired`
   */
  async #requireProgress({ before = [] }: EventTally): Promise<void> {
    const { kafka, names } = this.#deps;
    const kept = await kafka.offsets(names.deliveriesReplay);
    if (before.every(([partition, end]) => (kept.get(partition)?.low ?? 0) <= end)) return;
    const message =
      'The replay began so long ago that its progress has expired. What it has not sent yet is left out.';
    throw new TailraceError('expired', message);
  }

  /**
   * Events that were counted can be missing because their user, the destination or another replay has changed that. So they are looked
   * for only where something has expired.
   *
   * @throws TailraceError `conflict`, `expired`
   */
  async #requireAll(tally: EventTally, found: number, expired: number): Promise<void> {
    const missing = tally.events - found;
    if (missing <= 0) return;
    this.#requireEnabled();
    const { kafka, names } = this.#deps;
    const kept = await kafka.offsets(this.#order.selection.topic ?? names.events);
    const haveExpired = tally.starts?.some(([partition, start]) => (kept.get(partition)?.low ?? 0) > start);
    if (!haveExpired && expired <= tally.expired) return;
    const [few, all] = [missing, tally.events].map((count) => count.toLocaleString('en'));
    throw new TailraceError('expired', `${few} of ${all} events expired in Kafka before they were sent.`);
  }

  /** The age of a delivery begins with its replay. Undefined where the transform filters the event. */
  async #replayedOf({ delivery }: SelectedEvent, { deliveryId, letter }: Due): Promise<Replayed | undefined> {
    const { id, by, selection } = this.#order;
    const { config, transforms } = this.#deps;
    const destination = config.destination(selection.destinationId);
    const made =
      destination && hasTransform(destination)
        ? await transformDelivery(transforms, delivery(), destination)
        : delivery();
    if (!made) return undefined;
    const headers: (readonly [string, Buffer])[] = [[replayIdHeader, Buffer.from(id)]];
    if (by !== undefined) headers.push([replayedByHeader, Buffer.from(by)]);
    const encoded = encodeDelivery(this.#deps.names.deliveriesReplay, {
      ...made,
      deliveryId,
      acceptedAt: undefined,
      eventAcceptedAt: made.acceptedAt,
      replayedFrom: letter && formatPosition(letter),
      otherHeaders: headers,
    });
    const place = letter && { ...letter, headers: { 'delivery-id': Buffer.from(deliveryId) } };
    return { record: { ...encoded, partition: this.#partitioner.partitionOf(made.key) }, letter: place };
  }

  #ratePerSecond(): number {
    return rateOf(this.#order, this.#deps.config.destination(this.#order.selection.destinationId));
  }

  /**
   * Waits while the destination has enough to do: what it does not take yet stays in `events`, so that its live deliveries do not wait
   * behind the replay.
   */
  async #untilReady(): Promise<void> {
    const { signal, selection } = this.#order;
    const { destinationId } = selection;
    const ahead = Math.max(leastAhead, this.#ratePerSecond() * aheadSeconds);
    while (!signal.aborted) {
      this.#requireEnabled();
      if (this.#pending(destinationId) < ahead) return;
      this.#lastReplayAt = performance.now();
      await pause(lookAgainMs, signal);
    }
  }

  /** Nothing is selected for one that is not, which looks like the end. @throws TailraceError `conflict` */
  #requireEnabled(): void {
    const { destinationId } = this.#order.selection;
    if (this.#deps.config.destination(destinationId)?.enabled === true) return;
    const message = `The destination ${JSON.stringify(destinationId)} was disabled or deleted during the replay.`;
    throw new TailraceError('conflict', message);
  }

  #pending(destinationId: string): number {
    // The history can be unavailable for long; the rate bounds what is sent then.
    const rows = readIfAvailable(this.#deps.history, (queries) => queries.pendingOf(destinationId)) ?? [];
    const early = rows.filter(({ reason }) => waitsForAnAttempt.has(reason));
    return early.reduce((sum, { deliveries }) => sum + deliveries, 0);
  }
}

/** How many events a replay sends in a second at most. */
export function rateOf(
  { ratePerSecond }: Pick<EventReplayOrder, 'ratePerSecond'>,
  destination: Pick<Destination, 'rateLimit'> | undefined,
): number {
  return Math.min(ratePerSecond, Math.max(1, (destination?.rateLimit ?? Infinity) * shareOfRateLimit));
}

/**
 * By partition of `events`, the offset up to which the router has routed everything. It commits a moment after it has routed, which is waited
 * for. What it has not routed by then is not past yet.
 */
async function routedEnds(
  { kafka, names, routerGroup }: EventReplayDependencies,
  ends: ReadonlyMap<number, number>,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, number>> {
  const giveUpAt = performance.now() + commitsWithinMs;
  for (;;) {
    const routed = finishedUpTo((await kafka.finished(routerGroup, [names.events])).get(names.events));
    const isRouted = Array.from(ends).every(([partition, end]) => (routed.get(partition) ?? 0) >= end);
    if (isRouted || signal.aborted || performance.now() > giveUpAt) return routed;
    await pause(lookAgainMs, signal);
  }
}

async function endsOf(kafka: Pick<Kafka, 'offsets'>, topic: string): Promise<ReadonlyMap<number, number>> {
  return new Map(Array.from(await kafka.offsets(topic), ([partition, { high }]) => [partition, high]));
}

interface Reading {
  readonly selection: EventSelection;
  readonly ends: ReadonlyMap<number, number>;
  readonly sent: SentDeliveries;
  readonly signal: AbortSignal;
}

/** @param take whether to go on; called with each event that is due, once */
async function eachDue(
  deps: EventReplayDependencies,
  { selection, ends, sent, signal }: Reading,
  take: (selected: SelectedEvent, due: Due) => boolean | Promise<boolean>,
): Promise<{ readonly isComplete: boolean } & Pick<EventTally, 'unreadable' | 'expired'>> {
  const { kafka, names, frames } = deps;
  const { topic, from, mode } = selection;
  const select = createSelector(deps, selection);
  const left = { unreadable: 0, expired: 0 };
  const options = { topic: topic ?? names.events, since: from, ends, isGentle: true };
  for await (const records of await kafka.scan(options)) {
    for (const record of records) {
      if (signal.aborted) return { isComplete: false, ...left };
      if (topic === undefined && sent.waits(record)) continue;
      let selected = select(record);
      if (selected.outcome === 'needs-schema') {
        await frames.fetchSchema(selected.schemaId);
        selected = select(record);
      }
      if (selected.outcome === 'needs-schema' || selected.outcome === 'unreadable') left.unreadable += 1;
      if (selected.outcome !== 'selected') continue;
      const mayHaveExpired = selected.at < sent.completeSince && !sent.knows(selected.deliveryId);
      if (mode === 'missing' && mayHaveExpired) {
        left.expired += 1;
        continue;
      }
      const due = sent.take(selected.deliveryId, mode);
      if (due && !(await take(selected, due))) return { isComplete: false, ...left };
    }
  }
  return { isComplete: true, ...left };
}
