/** A model of a consumer group under load: the series that its replicas would show, for replicas that change over time. */
import type { Series } from './prometheus.ts';

export interface Step {
  readonly atSeconds: number;
  readonly replicas: number;
}

export interface Load {
  readonly seconds: number;
  /** Events a second that arrive at this time. */
  arrivals(second: number): number;
  /** How late one slow receiver makes the oldest unfinished record. */
  readonly slowReceiverSeconds?: number;
}

/** Time zero of the model; Prometheus refuses times far from now in places. */
export const epoch = 1_700_000_000;
export const scrapeSeconds = 15;

/** Events that one event loop processes in a second. A real one has 11,000, at 90 µs of CPU for each; fewer make steps visible. */
const capacity = 2_000;
const idleShare = 0.02;
/** The longest pause of the group after a change, in whole seconds. */
const pauseSeconds = 3;

export interface GroupOptions {
  readonly load: Load;
  readonly steps: readonly Step[];
  readonly labels: string;
  readonly topic: string;
}

/** Lag and busy time of each replica at each scrape, and the lag of a retry topic, which is always late. */
export function seriesOf({ load, steps, labels, topic }: GroupOptions): Series[] {
  const samples = new Map<string, { atSeconds: number; value: number }[]>();
  const busySeconds = new Map<number, number>();
  const waiting: { readonly since: number; count: number }[] = [];
  let lastStep = -pauseSeconds;
  let replicas = 0;
  for (let second = 0; second <= load.seconds; second += 1) {
    const step = steps.findLast(({ atSeconds }) => atSeconds <= second);
    if (step === undefined) throw new Error('The first step is at 0');
    if (step.replicas !== replicas) lastStep = second;
    replicas = step.replicas;

    waiting.push({ since: second, count: load.arrivals(second) });
    const isPaused = second < lastStep + pauseSeconds;
    const processed = isPaused ? 0 : take(waiting, replicas * capacity);
    const share = Math.min(1, idleShare + processed / replicas / capacity);
    for (let replica = 0; replica < replicas; replica += 1) {
      busySeconds.set(replica, (busySeconds.get(replica) ?? 0) + share);
    }
    for (const replica of busySeconds.keys()) {
      // A replica that has been removed starts again from zero, as a new process.
      if (replica >= replicas) busySeconds.delete(replica);
    }
    if (second % scrapeSeconds !== 0) continue;
    const lag = Math.max(load.slowReceiverSeconds ?? 0, second - (waiting[0]?.since ?? second));
    for (let replica = 0; replica < replicas; replica += 1) {
      const own = `${labels},pod="pod-${replica}"`;
      const add = (name: string, value: number): void => {
        const found = samples.get(name) ?? [];
        samples.set(name, [...found, { atSeconds: epoch + second, value }]);
      };
      add(`tailrace_consumer_lag_seconds{${own},topic="${topic}"}`, lag);
      add(`tailrace_consumer_lag_seconds{${own},topic="${topic}.retry.1h"}`, 9_999);
      add(`tailrace_event_loop_busy_seconds_total{${own}}`, busySeconds.get(replica) ?? 0);
    }
  }
  return [...samples].map(([name, found]) => ({ name, samples: found }));
}

/** Removes up to `limit` events, the oldest first, and returns how many. */
function take(waiting: { readonly since: number; count: number }[], limit: number): number {
  let taken = 0;
  for (let first = waiting[0]; first !== undefined && taken < limit; first = waiting[0]) {
    const part = Math.min(first.count, limit - taken);
    taken += part;
    first.count -= part;
    if (first.count > 0) break;
    waiting.shift();
  }
  return taken;
}
