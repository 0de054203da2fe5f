/** A task of a lane: one attempt of one delivery, and what it shows about the receiver. */
import type { LaneFull, LaneHold } from '../../delivery.ts';

/** The result of an attempt, as a hint for how much the receiver can take. */
export type Signal =
  /** It answered quickly: send more. */
  | 'quick'
  /** It answered slowly: send about as much as now. */
  | 'steady'
  /** It failed: send less where most attempts fail. */
  | 'failed'
  /** It timed out: send less. */
  | 'overloaded'
  /** It answered 429: send less, and no faster than it accepted lately. */
  | 'throttled'
  /** Nothing was sent. */
  | 'none';

export interface Feedback {
  readonly signal: Signal;
  /** How long the receiver asked for a pause, with `Retry-After`. */
  readonly retryAfterMs?: number;
}

/** Live deliveries, or those of the background: replayed and recalled ones, which give way to live ones. */
export type Traffic = 'live' | 'background';

export interface Task {
  readonly traffic: Traffic;
  /** Whether the delivery comes from a retry topic, and goes before new ones. */
  readonly returned: boolean;
  readonly bytes: number;
  /** The number of requests it sends, which a rate limit counts. */
  readonly requests: number;
  /** Whether its partition was revoked. */
  readonly revoked: boolean;
  /** When it began to wait, by the monotonic clock. */
  readonly since: number;
  /** Must not reject. `heldBy` says what it waited for in its lane. */
  run(heldBy: LaneHold): Promise<Feedback>;
  /** Instead of `run`, where the lane is full. */
  defer(event: LaneFull): void;
}

/** A task that was started. */
export interface Started {
  readonly task: Task;
  readonly at: Moment;
  readonly heldBy: LaneHold;
}

/** A time on two monotonic clocks, in milliseconds. */
export interface Moment {
  readonly now: number;
  /** The idle clock, which stops while this process is working. */
  readonly idle: number;
}
