/** Instances that watch the same topics notice the same. Each looks regularly; the first one that acts leaves nothing to do. */
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import type { KafkaLog } from '@tailrace/kafka';

export interface Turns {
  readonly everyMs: number;
  readonly signal: AbortSignal;
  /** Called again after a random pause, in which another instance may act. */
  readonly isDue: () => boolean;
  readonly act: () => Promise<void>;
  readonly log: Pick<KafkaLog, 'warn'>;
  /** What the log says where `act` failed. The next turn tries again. */
  readonly delayed: string;
  readonly onTurn?: (() => void) | undefined;
}

/** Resolves once the signal is aborted and the last turn has ended. */
export async function takeTurns({ everyMs, signal, isDue, act, log, delayed, onTurn }: Turns): Promise<void> {
  const pause = (ms: number): Promise<void> => wait(ms, undefined, { signal });
  for (;;) {
    try {
      await pause(everyMs);
      if (isDue()) {
        await pause((Math.random() * everyMs) / 2);
        if (isDue()) await act();
      }
      onTurn?.();
    } catch (error) {
      if (signal.aborted) return;
      if (!isTailraceError(error)) throw error;
      if (error.code !== 'superseded') log.warn({ err: error }, delayed);
    }
  }
}
