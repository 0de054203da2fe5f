/** Runs one replay in this instance, and reports its state to the topic `replays`. */
import { setTimeout as wait } from 'node:timers/promises';
import { countDeadLetters, replayDeadLetters, type ReplayWriter } from '@tailrace/deadletters';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { Kafka, Publisher } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { TopicNames } from '@tailrace/topology';
import { transformAgain, type AgainDependencies } from '@tailrace/transform';
import type { EventReplays } from './events/event-replays.ts';
import type { EventSelection } from './events/selection.ts';
import {
  encodeForget,
  encodeReplay,
  interruptKey,
  maxRows,
  pauseKey,
  replayKey,
  type OwnedReplay,
} from './record.ts';
import type { ReplayView } from './view.ts';

export interface RunDependencies {
  readonly kafka: Pick<Kafka, 'scan' | 'exclusivePublisher' | 'describeTopics'>;
  readonly names: TopicNames;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly view: ReplayView;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly writer: ReplayWriter;
  readonly events: EventReplays;
  readonly again: AgainDependencies;
  /** How long a replay of a limited token may take. */
  readonly longestMs: number;
  /** How often a running replay reports, so that the others see that it runs. */
  readonly reportEveryMs: number;
}

type End = Partial<OwnedReplay> & Pick<OwnedReplay, 'state'>;

export type Run = ReturnType<typeof createRun>;

export function createRun(deps: RunDependencies, started: OwnedReplay) {
  const { kafka, names, log, view, publisher, writer, events, again, longestMs, reportEveryMs } = deps;
  const { id, instance, term, filter = {}, selection, ratePerSecond, dryRun, by } = started;
  const stopping = new AbortController();
  const { signal } = stopping;
  const begunAt = performance.now();
  let replay = started;
  /** Why the run stops before its end, if not for an interruption that the view shows. */
  let stopsFor: 'release' | 'time' | undefined;

  const isMine = (): boolean => {
    const seen = view.get(id);
    return seen?.term === term && seen.instance === instance;
  };

  const report = async (): Promise<void> => {
    await publisher.publish(encodeReplay(names.replays, replay));
  };

  const update = (more: Partial<OwnedReplay>): void => {
    replay = { ...replay, ...more, revision: replay.revision + 1 };
    view.accept(replay);
  };

  /** Whether another instance has begun to write replays, and not a command on Kafka. */
  const hasOtherWriter = (): boolean =>
    view
      .all()
      .some(
        ({ id, dryRun, instance: other }) =>
          !dryRun && other !== '' && other !== instance && view.silenceMs(id) < performance.now() - begunAt,
      );

  const stop = (reason: typeof stopsFor): void => {
    stopsFor = reason;
    stopping.abort();
  };

  /** A limited token has its place for a bounded time. */
  const isTimeOver = (): boolean =>
    started.limitedToken !== undefined && Date.now() - started.startedAt > longestMs;

  /** Until the end; a report that fails is followed by the next. */
  const reportRegularly = async (until: AbortSignal): Promise<void> => {
    const isOver = (): boolean => until.aborted;
    while (!isOver()) {
      await wait(reportEveryMs, undefined, { signal: until }).catch(() => undefined);
      if (isOver()) return;
      if (isTimeOver()) stop('time');
      update({});
      await report().catch(ignoreKafka);
    }
  };

  const replaySelected = async (selection: EventSelection): Promise<End> => {
    const isInterrupted = await events.run({
      ...started,
      selection,
      tally: replay.eventTally,
      signal,
      writer,
      onTurn: () => {
        update({ state: replay.eventTally ? 'running' : 'counting' });
      },
      async onTally(eventTally) {
        update({ eventTally, state: dryRun ? 'counting' : 'running' });
        await report().catch(ignoreKafka);
      },
      onReplayed: (replayed) => {
        update({ replayed, state: 'running' });
      },
    });
    return { state: isInterrupted ? 'interrupted' : 'done' };
  };

  const replayAll = async (): Promise<End> => {
    if (selection) return replaySelected(selection);
    const ends = replay.tally && new Map(replay.tally.ends);
    const counts = await countDeadLetters(kafka, names, { filter, ends });
    // An instance that continues a replay counts again, because the last report may be older than the last replays.
    const replayedBefore = replay.tally ? counts.replayed - replay.tally.replayed : 0;
    if (!replay.tally) {
      const { deadLetters, replayed, rows } = counts;
      const tally = { deadLetters, replayed, rows: rows.slice(0, maxRows), ends: [...counts.ends] };
      update({ tally });
    }
    if (dryRun) return { state: signal.aborted ? 'interrupted' : 'done' };
    update({ replayed: replayedBefore });
    if (signal.aborted) return { state: 'interrupted' };
    update({ state: 'running' });
    await report().catch(ignoreKafka);
    const { interrupted, replayed, malformed } = await replayDeadLetters(kafka, names, {
      filter,
      ratePerSecond,
      by,
      signal,
      ends: counts.ends,
      rebuild: (record) => transformAgain(again, record),
      writer,
      onReplayed: (replayed) => {
        update({ replayed: replayedBefore + replayed });
      },
    });
    return { malformed, replayed: replayedBefore + replayed, state: interrupted ? 'interrupted' : 'done' };
  };

  /** Records the end, also after an outage of Kafka. */
  const recordEnd = async (end: Partial<OwnedReplay>): Promise<void> => {
    update(end);
    let record = encodeReplay(names.replays, replay);
    for (;;) {
      try {
        await publisher.publish(record);
        for (const key of [interruptKey(id), pauseKey(id)]) {
          await publisher.publish(encodeForget(names.replays, key));
        }
        return;
      } catch (error) {
        ignoreKafka(error);
        if (stopsFor === 'release') return;
        if (isTailraceError(error, 'record-too-large')) {
          // Otherwise it would be tried for ever, by each instance in turn.
          log.warn({ err: error, replay: id }, 'replay forgotten');
          record = encodeForget(names.replays, replayKey(id));
        }
        await wait(reportEveryMs, undefined, { ref: false });
      }
    }
  };

  const finish = async (): Promise<void> => {
    const reporting = new AbortController();
    const reports = reportRegularly(reporting.signal);
    let end: End;
    try {
      end = await replayAll();
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      const { code, message } = error;
      end = { state: code === 'superseded' ? 'superseded' : 'failed', failure: { code, message } };
      // An instance that has fenced this one has written a record before.
      await view.refresh().catch(ignoreKafka);
      if (code === 'superseded' && hasOtherWriter()) {
        end = { state: 'interrupted' };
        stopsFor = 'release';
      } else if (isMine()) log.warn({ err: error, replay: id }, 'replay failed');
    } finally {
      reporting.abort();
      await reports;
    }
    if (!isMine()) return;
    const isEarly = end.state === 'interrupted' && !view.isInterrupted(id);
    if (isEarly && stopsFor === 'release') {
      update({ instance: '' });
      await report().catch(ignoreKafka);
      log.info({ replay: id }, 'replay released');
      return;
    }
    if (isEarly && stopsFor === 'time') {
      const { code, message } = new TailraceError('took-too-long');
      end = { ...end, failure: { code, message } };
    }
    await recordEnd({ ...end, endedAt: Date.now() });
    log.info({ replay: id, state: replay.state, replayed: replay.replayed }, 'replay ended');
  };

  const check = (): void => {
    if (view.isInterrupted(id) || !isMine()) stopping.abort();
    else if (view.isPaused(id)) stop(isTimeOver() ? 'time' : 'release');
  };
  check();
  return {
    get replay(): OwnedReplay {
      return replay;
    },
    /** Settles when the replay has ended here, and that is recorded. */
    ended: finish(),
    /** Stops if the view says that the replay was interrupted or taken over. */
    check,
    /** Stops after the records in flight, and leaves the rest to another instance. */
    release(): void {
      stop('release');
    },
  };
}

function ignoreKafka(error: unknown): void {
  if (!isTailraceError(error)) throw error;
}
