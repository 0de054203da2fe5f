/**
 * Replays of dead letters. They run in this process, which keeps their state in memory. If the process ends, a new replay
 * with the same filter continues: dead letters that were replayed are not replayed twice (packages/deadletters).
 */
import { randomUUID } from 'node:crypto';
import {
  replayDeadLetters,
  countDeadLetters,
  type DeadLetterFilter,
  type DeadLetterCounts,
} from '@tailrace/deadletters';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { TopicNames } from '@tailrace/topics';

export type ReplayState = 'counting' | 'running' | 'done' | 'interrupted' | 'superseded' | 'failed';

export interface ReplayOrder {
  readonly filter: DeadLetterFilter;
  readonly ratePerSecond: number;
  /** Count only, publish nothing. */
  readonly dryRun: boolean;
}

export interface Replay extends ReplayOrder {
  readonly id: string;
  readonly state: ReplayState;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt?: number;
  /** The dead letters that match; set once they are counted. */
  readonly tally?: DeadLetterCounts;
  readonly replayed: number;
  /** Records that are not deliveries and cannot be replayed. */
  readonly malformed: number;
  /** Why the replay failed or was superseded. */
  readonly failure?: { readonly code: string; readonly message: string };
}

export interface Replays {
  /** @throws TailraceError `too-many-at-once` */
  start(order: ReplayOrder): Replay;
  find(id: string): Replay | undefined;
  /** Newest first. */
  all(): readonly Replay[];
  /** Stops a replay after the records in flight. A replay that has ended is unchanged; undefined for an unknown id. */
  interrupt(id: string): Replay | undefined;
}

export interface ReplaysDependencies {
  readonly kafka: Pick<Kafka, 'scan' | 'exclusivePublisher' | 'describeTopics'>;
  readonly names: TopicNames;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Interrupts all replays. */
  readonly signal: AbortSignal;
}

/** Older replays that have ended are forgotten. */
const maxKept = 100;
/** Each replay reads whole topics. */
const maxRunning = 4;

interface Running {
  replay: Replay;
  readonly interruption: AbortController;
}

export function createReplays({ kafka, names, log, signal }: ReplaysDependencies): Replays {
  const entries = new Map<string, Running>();

  const update = (entry: Running, more: Partial<Replay>): void => {
    entry.replay = { ...entry.replay, ...more };
  };

  const run = async (entry: Running): Promise<Partial<Replay> & Pick<Replay, 'state'>> => {
    const { filter, ratePerSecond, dryRun } = entry.replay;
    const tally = await countDeadLetters(kafka, names, { filter });
    const { aborted } = entry.interruption.signal;
    update(entry, { tally });
    if (dryRun || aborted) return { state: aborted ? 'interrupted' : 'done' };
    update(entry, { state: 'running' });
    const { interrupted, ...result } = await replayDeadLetters(kafka, names, {
      ...{ filter, ratePerSecond, ends: tally.ends, signal: entry.interruption.signal },
      onReplayed: (replayed) => {
        update(entry, { replayed });
      },
    });
    return { ...result, state: interrupted ? 'interrupted' : 'done' };
  };

  const finish = async (entry: Running): Promise<void> => {
    const { id } = entry.replay;
    try {
      update(entry, await run(entry));
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      const { code, message } = error;
      const state = code === 'superseded' ? 'superseded' : 'failed';
      update(entry, { state, failure: { code, message } });
      log.warn({ err: error, replay: id }, 'replay failed');
    }
    update(entry, { endedAt: Date.now() });
    const { state, replayed } = entry.replay;
    log.info({ replay: id, state, replayed }, 'replay ended');
  };

  return {
    start(order) {
      const running = [...entries.values()].filter(({ replay }) => replay.endedAt === undefined);
      if (running.length >= maxRunning) {
        throw new TailraceError(
          'too-many-at-once',
          `${maxRunning} replays are running, the maximum. Wait until one ends, or interrupt one.`,
        );
      }
      const id = randomUUID();
      const replay: Replay = {
        ...order,
        id,
        state: 'counting',
        startedAt: Date.now(),
        replayed: 0,
        malformed: 0,
      };
      const entry: Running = { replay, interruption: new AbortController() };
      signal.addEventListener(
        'abort',
        () => {
          entry.interruption.abort();
        },
        { once: true },
      );
      for (const [oldest, { replay }] of entries) {
        if (entries.size < maxKept) break;
        if (replay.endedAt !== undefined) entries.delete(oldest);
      }
      entries.set(id, entry);
      void finish(entry);
      return replay;
    },
    find: (id) => entries.get(id)?.replay,
    all: () => Array.from(entries.values(), ({ replay }) => replay).reverse(),
    interrupt(id) {
      const entry = entries.get(id);
      entry?.interruption.abort();
      return entry?.replay;
    },
  };
}
