/**
 * Replays of dead letters. Their state is in Kafka, so that every control instance lists, shows and interrupts them:
 *
 *   counting → running → done, interrupted, failed, or superseded by a command on Kafka
 *
 * One instance runs them all, beside one another, because one process writes replays at a time (packages/deadletters): that of the
 * oldest one that runs. It reports every second. Another instance continues a replay whose instance has been silent for some
 * seconds, or has released it: at its shutdown, or because another instance has begun to write at the same moment.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { ReplayWriter } from '@tailrace/deadletters';
import { isTailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { TopicNames } from '@tailrace/topology';
import { heldBy, ownerOf, requirePlace, type Asker, type Held } from '../access/places.ts';
import { amounts, shared } from '../access/shared.ts';
import {
  encodeForget,
  encodeInterrupt,
  encodeReplay,
  interruptKey,
  replayKey,
  type OwnedReplay,
  type Replay,
  type ReplayOrder,
} from './record.ts';
import { createRun, type Run } from './run.ts';
import { openReplayView } from './view.ts';

export type { Replay, ReplayOrder, ReplayState } from './record.ts';

export interface ReplaysOptions {
  readonly kafka: Pick<Kafka, 'scan' | 'exclusivePublisher' | 'describeTopics' | 'follow' | 'publisher'>;
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

export type Replays = Awaited<ReturnType<typeof openReplays>>;

export async function openReplays({
  kafka,
  names,
  log,
  takeOverAfterMs = 6_000,
  longestMs = shared.replays.longestMs,
}: ReplaysOptions) {
  const instance = randomUUID();
  const reportEveryMs = takeOverAfterMs / reportsBeforeTakeOver;
  const closing = new AbortController();
  const runs = new Map<string, Run>();
  /** The places of replays that are not in Kafka yet. */
  const starting = new Set<Held>();
  const publisher = kafka.publisher({ giveUpAfterMs });
  const writer = new ReplayWriter(kafka, names);
  let wake = (): void => undefined;
  const view = await openReplayView(kafka, names.replays, () => {
    for (const run of runs.values()) run.check();
    wake();
  });

  const run = (replay: OwnedReplay): void => {
    const started = createRun(
      { kafka, names, log, view, publisher, writer, longestMs, reportEveryMs },
      replay,
    );
    runs.set(replay.id, started);
    void started.ended.finally(() => runs.delete(replay.id));
  };

  const isUnfinished = ({ endedAt }: Replay): boolean => endedAt === undefined;

  const isAbandoned = ({ id, instance: owner }: OwnedReplay): boolean =>
    !runs.has(id) && (owner === '' || view.silenceMs(id) > takeOverAfterMs);

  /** Whether this instance runs the replays, or none does. */
  const isWriter = (): boolean => {
    const oldest = view
      .all()
      .findLast((replay) => isUnfinished(replay) && !replay.dryRun && !isAbandoned(replay));
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
      for (const replay of view.all()) {
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
  const forgetOldest = async (isLimited: boolean): Promise<void> => {
    const ended = view
      .all()
      .filter((replay) => !isUnfinished(replay) && (replay.limitedToken !== undefined) === isLimited);
    const keys = beyondKept(ended, amounts.endedReplays - 1).flatMap(({ id }) => [
      replayKey(id),
      interruptKey(id),
    ]);
    await Promise.all(keys.map((key) => publisher.publish(encodeForget(names.replays, key))));
  };

  return {
    /**
     * Resolves once the replay is in Kafka. A second one with the same id is the first.
     *
     * @throws TailraceError `too-many-at-once`, `kafka-unavailable`
     */
    async start(order: ReplayOrder, asker?: Asker, id: string = randomUUID()): Promise<Replay> {
      await view.refresh();
      const known = view.get(id);
      if (known) return known;
      const owner = ownerOf(asker);
      const wanted = heldBy('replays', owner, order.filter.destinationId);
      const running = view.all().filter(isUnfinished).map(heldByReplay);
      requirePlace('replays', [...running, ...starting], wanted);
      starting.add(wanted);
      try {
        await forgetOldest(owner.isLimited);
        const isOwn = order.dryRun || isWriter();
        const replay: OwnedReplay = {
          ...order,
          id,
          state: 'counting',
          startedAt: Date.now(),
          replayed: 0,
          malformed: 0,
          ...(owner.isLimited && { limitedToken: owner.token }),
          instance: isOwn ? instance : '',
          term: 1,
          revision: 0,
        };
        await write(replay);
        view.accept(replay);
        if (isOwn) run(replay);
        return replay;
      } finally {
        starting.delete(wanted);
      }
    },
    async find(id: string): Promise<Replay | undefined> {
      if (!runs.has(id)) await refreshed();
      return runs.get(id)?.replay ?? view.get(id);
    },
    /** Newest first. */
    async all(): Promise<readonly Replay[]> {
      await refreshed();
      return view.all().map((replay) => runs.get(replay.id)?.replay ?? replay);
    },
    /**
     * Stops a replay after the records in flight. A replay that has ended is unchanged; undefined for an unknown id.
     *
     * @throws TailraceError `kafka-unavailable`
     */
    async interrupt(id: string): Promise<Replay | undefined> {
      await view.refresh();
      const found = view.get(id);
      if (!found || !isUnfinished(found)) return found;
      await publisher.publish(encodeInterrupt(names.replays, id));
      await refreshed();
      return runs.get(id)?.replay ?? view.get(id);
    },
    /** Releases the replays of this instance, which another continues. */
    async close(): Promise<void> {
      closing.abort();
      const ending = [...runs.values()];
      for (const run of ending) run.release();
      await Promise.allSettled([takingOver, ...ending.map(({ ended }) => ended)]);
      await publisher.close();
      await view.close();
    },
  };
}

/** The place of a replay that runs. */
function heldByReplay({ limitedToken, filter }: OwnedReplay): Held {
  const owner = { token: limitedToken ?? '', isLimited: limitedToken !== undefined };
  return heldBy('replays', owner, filter.destinationId);
}

/**
 * The replays beyond `kept`: the oldest of the destination with the most, so that one with few keeps them.
 *
 * @param ended newest first
 */
function beyondKept(ended: readonly Replay[], kept: number): Replay[] {
  const ofDestinations = [...Map.groupBy(ended, ({ filter }) => filter.destinationId).values()];
  return Array.from({ length: Math.max(0, ended.length - kept) }, () => {
    const most = ofDestinations.reduce((one, other) => (other.length > one.length ? other : one));
    return most.pop();
  }).filter((replay) => replay !== undefined);
}
