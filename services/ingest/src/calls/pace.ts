/**
 * Spreads work of a source over time. What follows in the pipeline then gets an even flow of it, and what comes from others never
 * waits for a whole batch.
 */
import { setTimeout as wait } from 'node:timers/promises';

/** Resolves when the source may begin a piece of work that counts as `durationMs`: when its earlier pieces have had their time. */
export type Pace = (sourceId: string, durationMs: number) => Promise<void>;

export function createPace(): Pace {
  /** By source, when its next piece may begin. */
  const nextAt = new Map<string, number>();
  return async (sourceId, durationMs) => {
    if (durationMs === 0) return;
    const now = performance.now();
    const at = Math.max(now, nextAt.get(sourceId) ?? 0);
    nextAt.set(sourceId, at + durationMs);
    if (at > now) await wait(at - now);
  };
}
