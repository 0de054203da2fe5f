/**
 * Replays of dead letters. Their state is in Kafka, so that every control instance lists, shows and interrupts them. The
 * instance that received a replay runs it, and reports every second; another instance continues it once it has been silent for
 * some seconds, or has released it at its shutdown. Each dead letter is replayed once, on any number of instances
 * (packages/deadletters).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { TopicNames } from '@tailrace/topics';
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
import { openReplayView, type ReplayView } from './view.ts';

export type { Replay, ReplayOrder, ReplayState } from './record.ts';

export interface Replays {
  /**
   * Resolves once the replay is in Kafka. A second one with the same id is the first.
   *
   * @throws TailraceError `too-many-at-once`, `kafka-unavailable`
   */
  start(order: ReplayOrder, id?: string): Promise<Replay>;
  find(id: string): Promise<Replay | undefined>;
  /** Newest first. */
  all(): Promise<readonly Replay[]>;
  /**
   * Stops a replay after the records in flight. A replay that has ended is unchanged; undefined for an unknown id.
   *
   * @throws TailraceError `kafka-unavailable`
   */
  interrupt(id: string): Promise<Replay | undefined>;
  /** Releases the replays of this instance, which another continues. */
  close(): Promise<void>;
}

export interface ReplaysOptions {
  readonly kafka: Pick<Kafka, 'scan' | 'exclusivePublisher' | 'describeTopics' | 'follow' | 'publisher'>;
  readonly names: TopicNames;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** A replay that is silent for this long is continued by another instance. Default 6 s. */
  readonly takeOverAfterMs?: number;
}

/** Older replays that have ended are forgotten. */
const maxKept = 100;
/** Of all instances. Each replay reads whole topics. */
const maxRunning = 4;
const pollMs = 1_000;
const giveUpAfterMs = 10_000;

export async function openReplays({
  kafka,
  names,
  log,
  takeOverAfterMs = 6_000,
}: ReplaysOptions): Promise<Replays> {
  const instance = randomUUID();
  const closing = new AbortController();
  const runs = new Map<string, Run>();
  const publisher = kafka.publisher({ giveUpAfterMs });
  const view: ReplayView = await openReplayView(kafka, names.replays, () => {
    for (const run of runs.values()) run.check();
  });

  const run = (replay: OwnedReplay): void => {
    const started = createRun({ kafka, names, log, view, publisher }, replay);
    runs.set(replay.id, started);
    void started.ended.finally(() => runs.delete(replay.id));
  };

  const isUnfinished = ({ endedAt }: Replay): boolean => endedAt === undefined;

  /** Whether a later replay has superseded this one: one runs at a time. */
  const isSuperseded = (replay: OwnedReplay): boolean =>
    !replay.dryRun &&
    view
      .all()
      .some(({ dryRun, startedAt, id }) => !dryRun && id !== replay.id && startedAt > replay.startedAt);

  const isAbandoned = ({ id, instance: owner }: OwnedReplay): boolean =>
    !runs.has(id) && (owner === '' || view.silenceMs(id) > takeOverAfterMs);

  const takeOver = async (id: string): Promise<void> => {
    // An instance that has lost its connection does not hear the others.
    await view.refresh();
    const found = view.get(id);
    if (!found || !isUnfinished(found) || !isAbandoned(found)) return;
    const mine = { ...found, instance, term: found.term + 1, revision: 0 };
    if (isSuperseded(found)) {
      const failure = { code: 'superseded', message: 'A later replay was started.' };
      await write({ ...mine, state: 'superseded', failure, endedAt: Date.now() });
      return;
    }
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
      await wait(pollMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
    }
  };
  const takingOver = takeOverAbandoned();

  /** Reads what other instances have written; without Kafka, the state of the moment is shown. */
  const refreshed = async (): Promise<void> => {
    await view.refresh().catch((error: unknown) => {
      if (!isTailraceError(error)) throw error;
    });
  };

  const forgetOldest = async (): Promise<void> => {
    const ended = view.all().filter((replay) => !isUnfinished(replay));
    const keys = ended.slice(maxKept - 1).flatMap(({ id }) => [replayKey(id), interruptKey(id)]);
    await Promise.all(keys.map((key) => publisher.publish(encodeForget(names.replays, key))));
  };

  return {
    async start(order, id = randomUUID()) {
      await view.refresh();
      const known = view.get(id);
      if (known) return known;
      if (view.all().filter(isUnfinished).length >= maxRunning) {
        throw new TailraceError(
          'too-many-at-once',
          `${maxRunning} replays are running, the maximum. Wait until one ends, or interrupt one.`,
        );
      }
      await forgetOldest();
      const replay: OwnedReplay = {
        ...order,
        ...{ id, state: 'counting', startedAt: Date.now(), replayed: 0, malformed: 0 },
        ...{ instance, term: 1, revision: 0 },
      };
      await write(replay);
      view.accept(replay);
      run(replay);
      return replay;
    },
    async find(id) {
      if (!runs.has(id)) await refreshed();
      return runs.get(id)?.replay ?? view.get(id);
    },
    async all() {
      await refreshed();
      return view.all().map((replay) => runs.get(replay.id)?.replay ?? replay);
    },
    async interrupt(id) {
      await view.refresh();
      const found = view.get(id);
      if (!found || !isUnfinished(found)) return found;
      await publisher.publish(encodeInterrupt(names.replays, id));
      await refreshed();
      return runs.get(id)?.replay ?? view.get(id);
    },
    async close() {
      closing.abort();
      const ending = [...runs.values()];
      for (const run of ending) run.release();
      await Promise.allSettled([takingOver, ...ending.map(({ ended }) => ended)]);
      await publisher.close();
      await view.close();
    },
  };
}
