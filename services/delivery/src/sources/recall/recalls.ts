/**
 * Recalls: the pending deliveries of a destination are attempted before they are due, when its receiver has recovered or an
 * operator asks for it, or are drained. The owner of a partition does this for its own part, with records that it reads
 * beside the consumer group. Nothing is copied: a recalled record is dropped when the group reads it. The topic `recalls`
 * (ledger.ts) has what the next owner must know.
 */
import type { Received } from '../../delivery.ts';
import type { Lanes } from '../../stages/lane/lanes.ts';
import type { Pipeline } from '../../pipeline.ts';
import type { Receivers } from '../../receivers/receivers.ts';
import type { HeaderTimes } from '../../stages/due/header-times.ts';
import { Budget } from './budget.ts';
import type { RecallSpec } from './capacity.ts';
import { findEnds, findEndsOf, whenLocated, type Ends, type RecallTopics } from './locate.ts';
import { Part, type RecalledPartition } from './part.ts';
import { Passes } from './passes.ts';
import { Recall } from './recall.ts';
import type { Recalled } from './recalled.ts';
import type { Signs } from './signs.ts';

export interface RecallsDependencies {
  readonly topics: RecallTopics;
  readonly pipeline: Pipeline;
  readonly recalled: Recalled;
  readonly signs: Signs;
  readonly receivers: Receivers;
  readonly lanes: Lanes;
  readonly times: HeaderTimes;
  readonly now: () => number;
}

const tickMs = 250;
/** How often the progress of a recall is published. */
const publishEveryTicks = 4;
/** The next owner of a partition repeats what ended after the progress that was published last. Where that is older, nothing begins. */
const publishedWithinMs = 2_000;
const pruneEveryTicks = 120;
/** The pause between two recalls of a destination that no operator asked for. */
const pauseMs = 10_000;
const shareMs = 1_000;

export class Recalls {
  readonly #deps: RecallsDependencies;
  readonly #tiers: ReadonlySet<string>;
  readonly #budget = new Budget();
  readonly #running: Map<string, Recall>;
  readonly #passes: Passes;
  /** Destinations that were resumed, and whose paused deliveries are not all recalled yet; `now`: since their last recall began. */
  readonly #resumed = new Map<string, 'now' | 'later'>();
  /** When the last recall of a destination ended, since the last rebalance. */
  readonly #endedAt = new Map<string, number>();
  readonly #later = new Map<string, NodeJS.Timeout>();
  /** The last search for the ends of the retry topics, which recalls that begin within a second share. */
  #ends: { readonly begunAt: number; readonly found: Promise<Ends> } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;
  /** Requests are considered once the group has joined. */
  #state: 'joining' | 'joined' | 'closed' = 'joining';

  constructor(dependencies: RecallsDependencies) {
    this.#deps = dependencies;
    const { topics, pipeline, recalled, signs, receivers } = dependencies;
    const { names, tiers, group, log } = topics;
    this.#tiers = new Set(tiers);
    this.#running = recalled.running;
    this.#passes = new Passes({
      // The longest delays first: records of the short ones are due soon anyway.
      tiers: tiers.toSorted((a, b) => (names.retryTierDelayMs(b) ?? 0) - (names.retryTierDelayMs(a) ?? 0)),
      // Records that an earlier recall has dispatched stay in their topics until the group reads them.
      unfinished: (...part) => recalled.notFinished(group.unfinished(...part)),
      log,
    });
    signs.onRecovery((destinationId) => this.#recovered(destinationId));
    receivers.onResume((destinationId) => {
      // The recall covers what is in Kafka when it begins.
      void pipeline.written().then(() => {
        this.#endedAt.delete(destinationId);
        this.#resumed.set(destinationId, 'now');
        this.#foundPaused(destinationId);
      });
    });
    // It was disabled when its paused deliveries were to be recalled.
    receivers.onEnable((destinationId) => {
      if (this.#resumed.has(destinationId)) this.#recovered(destinationId);
    });
    recalled.ledger.onRequest(({ destinationId }) => {
      if (this.#state === 'joined') this.#consider(destinationId);
    });
  }

  /** Takes a record that the group has read, where nothing more is to be done for it, or a recall has it. */
  receive(received: Received): boolean {
    const { work, delivery } = received;
    const { destinationId, sequence } = delivery;
    if (this.#tiers.has(work.topic)) {
      if (this.#deps.recalled.ledger.isFinished(destinationId, work, sequence)) {
        work.done();
        return true;
      }
      if (this.#running.get(destinationId)?.receive(received)) return true;
    }
    // Its destination was resumed while another replica owned the partition, or as it was being written.
    if (this.#deps.receivers.isPauseOver(delivery)) this.#foundPaused(destinationId);
    return false;
  }

  /** Follows the rebalances of the group: other replicas may own the partitions next, or partitions are new here. */
  rebalanced(phase: 'begun' | 'joined'): void {
    if (phase === 'begun') {
      for (const recall of this.#running.values()) void this.#publish(recall);
      return;
    }
    // Nothing is known of the pending deliveries in new partitions.
    this.#endedAt.clear();
    this.#deps.signs.failed.clear();
    if (this.#state === 'closed') return;
    this.#timer ??= setInterval(() => this.#tick(), tickMs);
    for (const recall of this.#running.values()) recall.tick();
    // The group joins before its positions are available.
    setTimeout(() => {
      if (this.#state === 'joining') this.#state = 'joined';
      for (const { destinationId } of this.#deps.recalled.ledger.requests()) this.#consider(destinationId);
    }, tickMs);
  }

  /** Dispatches nothing more, and publishes the progress when nothing is in flight any more. */
  async close(settle: () => Promise<void>): Promise<void> {
    this.#state = 'closed';
    this.#passes.stop();
    for (const timer of this.#later.values()) clearTimeout(timer);
    for (const recall of this.#running.values()) recall.stop('running');
    await settle();
    clearInterval(this.#timer);
    await Promise.all(Array.from(this.#running.values(), (recall) => this.#publish(recall)));
  }

  #recovered(destinationId: string): void {
    if (this.#state === 'closed' || this.#running.has(destinationId) || this.#later.has(destinationId))
      return;
    const endedAt = this.#endedAt.get(destinationId);
    if (endedAt !== undefined && !this.#deps.signs.failed.has(destinationId)) return;
    const pause = endedAt === undefined ? 0 : endedAt + pauseMs - performance.now();
    const timer = setTimeout(() => {
      this.#later.delete(destinationId);
      const cause = { kind: this.#resumed.has(destinationId) ? 'resume' : 'recovery' } as const;
      this.#begin({ destinationId, kind: 'retry', cause }, this.#partitions());
    }, pause);
    this.#later.set(destinationId, timer);
  }

  /** A delivery was found that waits because of an earlier pause. */
  #foundPaused(destinationId: string): void {
    if (!this.#resumed.has(destinationId)) this.#resumed.set(destinationId, 'later');
    this.#deps.signs.failed.add(destinationId);
    this.#recovered(destinationId);
  }

  /** Begins the requested recall of a destination in owned partitions where it is not done. */
  #consider(destinationId: string): void {
    const { ledger } = this.#deps.recalled;
    const request = ledger.request(destinationId);
    if (this.#state === 'closed' || !request) return;
    const unfinished = this.#partitions().filter((number) => {
      const progress = ledger.state(destinationId, number)?.request;
      return progress?.id !== request.id || progress.state === 'running';
    });
    if (unfinished.length === 0) return;
    const running = this.#running.get(destinationId);
    if (!running) {
      const cause = { kind: 'request', request } as const;
      this.#begin({ destinationId, kind: request.kind, cause }, unfinished);
    } else if (running.request?.id !== request.id) running.stop();
    // This is called again when the running recall ends.
  }

  #begin(spec: RecallSpec, numbers: readonly number[]): void {
    const { destinationId, cause } = spec;
    if (this.#state === 'closed' || numbers.length === 0 || this.#running.has(destinationId)) return;
    const { pipeline, lanes, receivers, times, signs, now } = this.#deps;
    signs.failed.delete(destinationId);
    if (cause.kind !== 'recovery') this.#resumed.delete(destinationId);
    const recall = new Recall(spec, {
      pipeline,
      lanes,
      receivers,
      times,
      budget: this.#budget,
      passes: this.#passes,
      publishedWithinMs,
      now,
      onEnd: (ended, isLeft) => this.#ended(ended, isLeft),
    });
    this.#running.set(destinationId, recall);
    void this.#open(recall, numbers);
  }

  async #open(recall: Recall, numbers: readonly number[]): Promise<void> {
    const { topics, pipeline, recalled } = this.#deps;
    const { names, group, pauseTopic } = topics;
    const { destinationId, cause } = recall.spec;
    const tiers = topics.tiers.filter((topic) => cause.kind !== 'recovery' || topic !== pauseTopic);
    const ends = await this.#endsOf(recall.spec);
    const located = await whenLocated(topics, () => {
      const mine = this.#partitions();
      return this.#state === 'closed' ? [] : numbers.filter((number) => mine.includes(number));
    });
    // From here to `recall.open` no record may be received, so nothing is awaited.
    const partitions = located.flatMap((number): RecalledPartition[] => {
      const { marks, request: before } = recalled.ledger.state(destinationId, number) ?? { marks: [] };
      const deliveries = group.owned(names.deliveries, number);
      // A retry topic may lack a partition for some time.
      const parts = tiers.flatMap((topic) => {
        const part = group.owned(topic, number);
        return part ? new Part(topic, part, ends.get(topic)?.get(number) ?? 0, marks) : [];
      });
      const counted = before && before.id === recall.request?.id ? before.count : 0;
      return deliveries ? [{ number, owned: deliveries, parts, marks, counted }] : [];
    });
    recall.open(partitions, pipeline.takeDelayed(destinationId));
  }

  #endsOf({ cause }: RecallSpec): Promise<Ends> {
    const { topics } = this.#deps;
    switch (cause.kind) {
      case 'request':
        return findEndsOf(topics, cause.request);
      case 'resume':
        // A shared result may lack the deliveries of a short pause.
        return findEnds(topics);
      case 'recovery': {
        // Many receivers may recover at the same moment.
        const now = performance.now();
        if (!this.#ends || now - this.#ends.begunAt >= shareMs) {
          this.#ends = { begunAt: now, found: findEnds(topics) };
        }
        return this.#ends.found;
      }
    }
  }

  /** The partition numbers that this replica owns. */
  #partitions(): number[] {
    const { group, names } = this.#deps.topics;
    return group.partitions.flatMap(({ topic, partition }) =>
      topic === names.deliveries ? [partition] : [],
    );
  }

  #tick(): void {
    this.#ticks += 1;
    for (const recall of this.#running.values()) {
      recall.tick();
      if (this.#ticks % publishEveryTicks === 0) void recall.progress.publish(() => this.#publish(recall));
    }
    if (this.#ticks % pruneEveryTicks === 0) this.#prune();
  }

  async #publish(recall: Recall): Promise<void> {
    const { ledger } = this.#deps.recalled;
    const partitions = recall.progress.partitions.filter(({ owned }) => !owned.revoked);
    const put = partitions.map(async (partition) => {
      const { destinationId } = recall.spec;
      const before = ledger.state(destinationId, partition.number);
      const state = recall.stateOf(partition);
      // A recall after a recovery keeps the progress of the last request.
      const request = state.request ?? before?.request;
      if (before || request || state.marks.length > 0)
        await ledger.put({ ...state, request }, partition.owned);
    });
    await Promise.all(put);
  }

  /** @param isLeft whether deliveries are still pending, because the recall was stopped */
  #ended(recall: Recall, isLeft: boolean): void {
    const { destinationId, kind, cause } = recall.spec;
    void this.#publish(recall);
    this.#running.delete(destinationId);
    this.#passes.remove(recall);
    // Meanwhile it was resumed again, or deliveries were found that this recall did not cover.
    const resumed = this.#resumed.get(destinationId);
    if (resumed !== 'now') this.#endedAt.set(destinationId, performance.now());
    if (isLeft) this.#deps.signs.failed.add(destinationId);
    if (isLeft && cause.kind !== 'recovery' && !resumed) this.#resumed.set(destinationId, 'later');
    const { request, progress } = recall;
    const { count } = progress;
    if (count > 0 || request) {
      this.#deps.topics.log.info({ destinationId, kind, count, request: request?.id }, 'recall ended');
    }
    this.#consider(destinationId);
    if (resumed) this.#recovered(destinationId);
  }

  /** Removes marks below the offset that the group has committed. */
  #prune(): void {
    const { recalled, topics } = this.#deps;
    const { group, names } = topics;
    for (const number of this.#partitions()) {
      const deliveries = group.owned(names.deliveries, number);
      if (!deliveries) continue;
      for (const state of recalled.ledger.states(number)) {
        const marks = state.marks.filter(
          ({ topic, end }) => end > (group.owned(topic, number)?.committable ?? 0),
        );
        const isRunning = this.#running.has(state.destinationId);
        if (isRunning || marks.length === state.marks.length) continue;
        void recalled.ledger.put({ ...state, marks }, deliveries);
      }
    }
  }
}
