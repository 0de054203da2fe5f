/**
 * Replays of dead letters and of events. Their state is in Kafka, so that every control instance lists, shows, pauses and interrupts
 * them (README.md):
 *
 *   requested → counting → running → done, interrupted, failed, or superseded by a command on Kafka
 *
 * One instance runs them all, beside one another, because one process writes replays at a time (packages/deadletters): that of the
 * oldest one that runs. It reports every second. Another instance continues a replay whose instance has been silent for some
 * seconds, or has released it: at its shutdown, or because another instance has begun to write at the same moment.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { ReplayWriter } from '@tailrace/deadletters';
import { isTailraceError } from '@tailrace/errors';
import type { Kafka, OutgoingRecord } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { TopicNames } from '@tailrace/topology';
import { ExclusiveWriter } from '../records/exclusive-writer.ts';
import { overlap } from './events/selection.ts';
import { EventReplays } from './events/event-replays.ts';
import type { EventReplayDependencies } from './events/replay-events.ts';
import { heldBy, ownerOf, requirePlace, type Asker, type Held } from '../access/places.ts';
import { amounts, shared } from '../access/shared.ts';
import {
  destinationOf,
  encodeForget,
  encodeInterrupt,
  encodePause,
  encodeReplay,
  interruptKey,
  pauseKey,
  replayKey,
  type OwnedReplay,
  type Replay,
  type ReplayOrder,
} from './record.ts';
import { createRun, type Run } from './run.ts';
import { openReplayView } from './view.ts';

export type { Replay, ReplayOrder, ReplayState } from './record.ts';

export interface ReplaysOptions {
  readonly kafka: Pick<
    Kafka,
    'scan' | 'exclusivePublisher' | 'partitioner' | 'describeTopics' | 'follow' | 'publisher'
  >;
  /** What replays of events need. */
  readonly events: EventReplayDependencies;
  readonly names: TopicNames;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** A replay that is silent for this long is continued by another instance. Default 6 s. */
  readonly takeOverAfterMs?: number;
  /** Default: that of the table of what is shared. */
  readonly longestMs?: number;
}

/** A replay reports several times before it counts as silent. */
const reportsBeforeTakeOver = 6;
const giveUpAfterMs = 10_000;

export type ShownReplay = Replay & { readonly paused: boolean };

export type Replays = Awaited<ReturnType<typeof openReplays>>;

export async function openReplays({
  kafka,
  events: eventDependencies,
  names,
  log,
  takeOverAfterMs = 6_000,
  longestMs = shared.replays.longestMs,
}: ReplaysOptions) {
  const instance = randomUUID();
  const reportEveryMs = takeOverAfterMs / reportsBeforeTakeOver;
  const closing = new AbortController();
  const runs = new Map<string, Run>();
  const publisher = kafka.publisher({ giveUpAfterMs });
  const writer = new ReplayWriter(kafka, names);
  const events = new EventReplays(eventDependencies);
  let wake = (): void => undefined;
  const view = await openReplayView(kafka, names.replays, () => {
    for (const run of runs.values()) run.check();
    wake();
  });

  /** Starts replays one after another, so that of two that overlap one sees the other. */
  const starter = new ExclusiveWriter({
    kafka,
    id: names.replays,
    partitioned: {},
    refresh: () => view.refresh(),
    signal: closing.signal,
  });

  const run = (replay: OwnedReplay): void => {
    const started = createRun(
      {
        kafka,
        names,
        log,
        view,
        publisher,
        writer,
        events,
        again: eventDependencies,
        longestMs,
        reportEveryMs,
      },
      replay,
    );
    runs.set(replay.id, started);
    void started.ended.finally(() => runs.delete(replay.id));
  };

  const isUnfinished = ({ endedAt }: Replay): boolean => endedAt === undefined;

  /** A paused replay of a limited token gives its place back in time. */
  const isPaused = ({ id, limitedToken, startedAt }: OwnedReplay): boolean =>
    view.isPaused(id) &&
    !view.isInterrupted(id) &&
    !(limitedToken !== undefined && Date.now() - startedAt > longestMs);

  const isAbandoned = (replay: OwnedReplay): boolean =>
    !runs.has(replay.id) &&
    !isPaused(replay) &&
    (replay.instance === '' || view.silenceMs(replay.id) > takeOverAfterMs);

  /** Whether this instance runs the replays, or none does. */
  const isWriter = (): boolean => {
    const oldest = view
      .all()
      .findLast(
        (replay) =>
          isUnfinished(replay) && !replay.dryRun && !isAbandoned(replay) && !view.isPaused(replay.id),
      );
    return oldest === undefined || oldest.instance === instance;
  };

  const takeOver = async (id: string): Promise<void> => {
    // An instance that has lost its connection does not hear the others.
    await view.refresh();
    const found = view.get(id);
    if (!found || !isUnfinished(found) || !isAbandoned(found)) return;
    if (!found.dryRun && !isWriter()) return;
    const mine = { ...found, instance, term: found.term + 1, revision: 0 };
    await write(mine);
    await view.refresh();
    if (view.get(id)?.instance !== instance || closing.signal.aborted) return;
    log.info({ replay: id }, 'continuing replay of another instance');
    run(mine);
  };

  const write = async (replay: OwnedReplay): Promise<void> => {
    await publisher.publish(encodeReplay(names.replays, replay));
  };

  const takeOverAbandoned = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      // Those to one destination run in the order in which they were requested.
      for (const replay of view.all().toReversed()) {
        if (!isUnfinished(replay) || !isAbandoned(replay)) continue;
        await takeOver(replay.id).catch((error: unknown) => {
          if (!isTailraceError(error)) throw error;
          log.warn({ err: error, replay: replay.id }, 'replay not continued yet');
        });
      }
      const woken = new AbortController();
      wake = () => {
        woken.abort();
      };
      const signal = AbortSignal.any([closing.signal, woken.signal]);
      await wait(reportEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const takingOver = takeOverAbandoned();

  /** Reads what other instances have written; without Kafka, the state of the moment is shown. */
  const refreshed = async (): Promise<void> => {
    await view.refresh().catch((error: unknown) => {
      if (!isTailraceError(error)) throw error;
    });
  };

  /** Makes room for one more replay, of a limited token or of another one. */
  const forgetOldest = (isLimited: boolean): OutgoingRecord[] => {
    const ended = view
      .all()
      .filter((replay) => !isUnfinished(replay) && (replay.limitedToken !== undefined) === isLimited);
    return beyondKept(ended, amounts.endedReplays - 1)
      .flatMap(({ id }) => [replayKey(id), interruptKey(id), pauseKey(id)])
      .map((key) => encodeForget(names.replays, key));
  };

  const shown = (id: string): ShownReplay | undefined => {
    const found = runs.get(id)?.replay ?? view.get(id);
    return found && { ...found, paused: isUnfinished(found) && isPaused(found) };
  };

  const request = async (id: string, record: OutgoingRecord): Promise<ShownReplay | undefined> => {
    await view.refresh();
    const found = view.get(id);
    if (!found || !isUnfinished(found)) return shown(id);
    await publisher.publish(record);
    await refreshed();
    return shown(id);
  };

  return {
    /**
     * Resolves once the replay is in Kafka. A second one with the same id is the first.
     *
     * @param judge of a replay of events: gets the unfinished ones, and those that have sent all again, that may send the same
     *   events. Throws, or returns the ids that the replay names
     * @throws TailraceError `too-many-at-once`, `kafka-unavailable`, `record-too-large`
     */
    async start(
      order: ReplayOrder,
      asker?: Asker,
      id: string = randomUUID(),
      judge: (overlapping: readonly Replay[]) => readonly string[] = () => [],
    ): Promise<Replay> {
      const owner = ownerOf(asker);
      let made: OwnedReplay | undefined;
      const replay = await starter.runWhileClientWaits(async (session) => {
        await view.refresh();
        const known = view.get(id);
        if (known) return known;
        const running = view.all().filter(isUnfinished).map(heldByReplay);
        requirePlace('replays', running, heldBy('replays', owner, destinationOf(order)));
        const overlaps = judge(view.all().filter((other) => mayRepeat(order, other)));
        made = {
          ...order,
          ...(order.selection && { overlaps }),
          id,
          state: order.selection ? 'requested' : 'counting',
          startedAt: Date.now(),
          replayed: 0,
          malformed: 0,
          ...(owner.isLimited && { limitedToken: owner.token }),
          instance: order.dryRun || isWriter() ? instance : '',
          term: 1,
          revision: 0,
        };
        const records = [...forgetOldest(owner.isLimited), encodeReplay(names.replays, made)];
        await session.publisher.publish(records.map((record) => ({ ...record, partition: 0 })));
        view.accept(made);
        return made;
      });
      if (made && replay.instance === instance) run(replay);
      return replay;
    },
    async find(id: string): Promise<ShownReplay | undefined> {
      if (!runs.has(id)) await refreshed();
      return shown(id);
    },
    /** Newest first. */
    async all(): Promise<readonly ShownReplay[]> {
      await refreshed();
      return view.all().flatMap(({ id }) => shown(id) ?? []);
    },
    /** Whether a replay that has not ended may send dead letters of the destination. @throws TailraceError `kafka-unavailable` */
    async maySend(destinationId: string): Promise<boolean> {
      await view.refresh();
      return view
        .all()
        .some(
          (replay) =>
            isUnfinished(replay) &&
            !replay.dryRun &&
            (destinationOf(replay) ?? destinationId) === destinationId,
        );
    },
    /**
     * Stops a replay after the records in flight. A replay that has ended is unchanged; undefined for an unknown id.
     *
     * @throws TailraceError `kafka-unavailable`
     */
    interrupt: (id: string) => request(id, encodeInterrupt(names.replays, id)),
    /** The replay waits after the records in flight, without limit of time. */
    pause: (id: string) => request(id, encodePause(names.replays, id)),
    resume: (id: string) => request(id, encodeForget(names.replays, pauseKey(id))),
    /** Releases the replays of this instance, which another continues. */
    async close(): Promise<void> {
      closing.abort();
      const ending = [...runs.values()];
      for (const run of ending) run.release();
      await Promise.allSettled([takingOver, ...ending.map(({ ended }) => ended)]);
      await starter.close();
      await publisher.close();
      await view.close();
    },
  };
}

/** The place of a replay that runs. */
function heldByReplay(replay: OwnedReplay): Held {
  const { limitedToken } = replay;
  const owner = { token: limitedToken ?? '', isLimited: limitedToken !== undefined };
  return heldBy('replays', owner, destinationOf(replay));
}

/** Whether a replay may send events that another one sends or has sent. With the mode `missing`, what was sent is not sent again. */
function mayRepeat({ selection }: ReplayOrder, other: Replay): boolean {
  if (!selection || !other.selection || other.dryRun || !overlap(selection, other.selection)) return false;
  const bothAll = selection.mode === 'all' && other.selection.mode === 'all';
  return other.endedAt === undefined || (bothAll && other.replayed > 0);
}

/**
 * The replays beyond `kept`: the oldest of the destination with the most, so that one with few keeps them.
 *
 * @param ended newest first
 */
function beyondKept(ended: readonly Replay[], kept: number): Replay[] {
  const ofDestinations = [...Map.groupBy(ended, destinationOf).values()];
  return Array.from({ length: Math.max(0, ended.length - kept) }, () => {
    const most = ofDestinations.reduce((one, other) => (other.length > one.length ? other : one));
    return most.pop();
  }).filter((replay) => replay !== undefined);
}
