/** The current state of all replays, from the topic `replays`. */
import type { Kafka } from '@tailrace/kafka';
import { decodeReplayRecord, interruptKey, pauseKey, replayKey, type OwnedReplay } from './record.ts';

export type ReplayView = Awaited<ReturnType<typeof openReplayView>>;

/** @param onChange called after each record */
export async function openReplayView(kafka: Pick<Kafka, 'follow'>, topic: string, onChange: () => void) {
  const replays = new Map<string, OwnedReplay>();
  const readAt = new Map<string, number>();
  const interrupted = new Set<string>();
  const paused = new Set<string>();

  const accept = (replay: OwnedReplay): void => {
    readAt.set(replay.id, performance.now());
    const known = replays.get(replay.id);
    if (!known || isLater(replay, known)) replays.set(replay.id, replay);
  };
  const forget = (key: string): void => {
    for (const id of [...replays.keys()]) {
      if (key === interruptKey(id)) interrupted.delete(id);
      if (key === pauseKey(id)) paused.delete(id);
      if (key !== replayKey(id)) continue;
      replays.delete(id);
      readAt.delete(id);
      interrupted.delete(id);
      paused.delete(id);
    }
  };

  const follower = await kafka.follow({
    topic,
    onRecord(record) {
      const decoded = decodeReplayRecord(record);
      if (decoded?.kind === 'replay') accept(decoded.replay);
      else if (decoded?.kind === 'interrupt') interrupted.add(decoded.id);
      else if (decoded?.kind === 'pause') paused.add(decoded.id);
      else if (decoded?.kind === 'forget') forget(decoded.key);
      onChange();
    },
  });
  return {
    get: (id: string) => replays.get(id),
    /** Newest first. */
    all: () => [...replays.values()].sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? -1 : 1)),
    isInterrupted: (id: string) => interrupted.has(id),
    isPaused: (id: string) => paused.has(id),
    /** Milliseconds since this instance last read a record of the replay. */
    silenceMs: (id: string) => performance.now() - (readAt.get(id) ?? -Infinity),
    /** Applies a record of this process before it is read from the topic. */
    accept,
    /** Resolves once every record that was readable at the call has been read. */
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  };
}

/** Of two instances that take a replay over at the same moment, the first in the topic has it. */
function isLater(one: OwnedReplay, known: OwnedReplay): boolean {
  if (one.term !== known.term) return one.term > known.term;
  return (one.instance === known.instance || one.instance === '') && one.revision > known.revision;
}
