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
  add(call: Call): boolean;
  /** The calls are sent or reported. */
  settle(calls: readonly Call[]): void;
  /**
   * Writes the calls `held`, all that are aside, again behind all others where they are older and keep many settled
   * calls, or `always` where they keep any.
   */
  compact(held: readonly Call[], always: boolean): void;
  /** Returns whether the store keeps a call that is not settled. */
  close(): (call: Call) => boolean;
}

/** Opens a store. `report` receives what was lost in it. */
export type CallStoreOpener = (report: (error: AnalyticsError) => void) => CallStore;
