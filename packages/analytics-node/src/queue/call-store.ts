/** Keeps queued calls across restarts, such as the file queue of Node. */
import type { Call } from '../core/encode.ts';
import type { AnalyticsError } from '../core/errors.ts';

/** At most what a store adds to the JSON of a call. */
export const storedBytes = 16;

export interface CallStore {
  /** The calls that an earlier process has left, oldest first, with the time when they were queued. */
  load(): Iterable<Call>;
  readonly freeBytes: number;
  /** Returns false where it cannot be written, which was reported. */
  add(json: string): boolean;
  /** The oldest `count` calls are sent or reported. */
  settle(count: number): void;
  /** Returns whether the store keeps a call that is not settled: the oldest one has the index 0. */
  close(): (index: number) => boolean;
}

/** Opens a store. `report` receives what was lost in it. */
export type CallStoreOpener = (report: (error: AnalyticsError) => void) => CallStore;
