/** The current state of all replays, from the topic `replays`. */
import type { Kafka } from '@tailrace/kafka';
import { decodeReplayRecord, interruptKey, replayKey, type OwnedReplay } from './record.ts';

export interface ReplayView {
  get(id: string): OwnedReplay | undefined;
  /** Newest first. */
  all(): readonly OwnedReplay[];
  isInterrupted(id: string): boolean;
  /** Milliseconds since this instance last read a record of the replay. */
  silenceMs(id: string): number;
  /** Applies a record of this process before it is read from the topic. */
  accept(replay: OwnedReplay): void;
  /** Resolves once every record that was readable at the call has been read. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** @param onChange called after each record */
export async function openReplayView(
  kafka: Pick<Kafka, 'follow'>,
  topic: string,
  onChange: () => void,
): Promise<ReplayView> {
  const replays = new Map<string, OwnedReplay>();
  const readAt = new Map<string, number>();
  const interrupted = new Set<string>();

  const accept = (replay: OwnedReplay): void => {
    readAt.set(replay.id, performance.now());
    const known = replays.get(replay.id);
    if (!known || isLater(replay, known)) replays.set(replay.id, replay);
  };
  const forget = (key: string): void => {
    for (const id of [...replays.keys()]) {
      if (key === interruptKey(id)) interrupted.delete(id);
      if (key !== replayKey(id)) continue;
      replays.delete(id);
      readAt.delete(id);
      interrupted.delete(id);
    }
  };

  const follower = await kafka.follow({
    topic,
    onRecord(record) {
      const decoded = decodeReplayRecord(record);
      if (decoded?.kind === 'replay') accept(decoded.replay);
      else if (decoded?.kind === 'interrupt') interrupted.add(decoded.id);
      else if (decoded?.kind === 'forget') forget(decoded.key);
      onChange();
    },
  });
  return {
    get: (id) => replays.get(id),
    all: () => [...replays.values()].sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? -1 : 1)),
    isInterrupted: (id) => interrupted.has(id),
    silenceMs: (id) => performance.now() - (readAt.get(id) ?? -Infinity),
    accept,
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  };
}

/** Of two instances that take a replay over at the same moment, the first in the topic has it. */
function isLater(one: OwnedReplay, known: OwnedReplay): boolean {
  if (one.term !== known.term) return one.term > known.term;
  return (one.instance === known.instance || one.instance === '') && one.revision > known.revision;
}
