/** A wave of numbered deliveries to the destinations of a stage, and the figures computed from it. */
import { distribution, median, type Distribution } from '../figures/statistics.ts';

export interface Wave {
  /** Number of the first delivery. */
  readonly first: number;
  readonly count: number;
  /** The place of each delivery's destination in the stage, by index. */
  readonly destinations: Uint16Array;
  /** When each delivery was given to the Kafka client, on the shared clock, by index; NaN until then. */
  readonly sentAt: Float64Array;
}

/** Selects deliveries of a wave. */
export interface Selection {
  /** First index; 0 by default. */
  readonly from?: number;
  /** Index after the last; the end of the wave by default. */
  readonly to?: number;
  /** Whether deliveries of this destination are selected; all by default. */
  readonly of?: (destination: number) => boolean;
}

/** The destinations of `count` deliveries, which take `turns` round and round. */
export function inTurn(count: number, turns: readonly number[]): number[] {
  return Array.from({ length: count }, (_, index) => turns[index % turns.length] ?? 0);
}

export function createWave(first: number, destinations: readonly number[]): Wave {
  const count = destinations.length;
  return {
    first,
    count,
    destinations: Uint16Array.from(destinations),
    sentAt: new Float64Array(count).fill(NaN),
  };
}

/** The selected indexes. */
export function select({ count, destinations }: Wave, selection: Selection): number[] {
  const { from = 0, to = count, of = () => true } = selection;
  const indexes: number[] = [];
  for (let index = from; index < to; index += 1) if (of(destinations[index] ?? NaN)) indexes.push(index);
  return indexes;
}

/** Milliseconds from sending to arrival, of the selected deliveries that arrived. */
export function latencies(wave: Wave, receivedAt: Float64Array, selection: Selection = {}): Distribution {
  return distribution(
    select(wave, selection).map((index) => (receivedAt[index] ?? NaN) - (wave.sentAt[index] ?? NaN)),
  );
}

/** Arrivals a second, from the first sending to the last arrival. */
export function throughput(wave: Wave, receivedAt: Float64Array, selection: Selection = {}): number {
  const indexes = select(wave, selection);
  const arrived = indexes.map((index) => receivedAt[index] ?? NaN).filter((at) => !Number.isNaN(at));
  const from = indexes.reduce((least, index) => Math.min(least, wave.sentAt[index] ?? Infinity), Infinity);
  const to = arrived.reduce((most, at) => Math.max(most, at), -Infinity);
  return (arrived.length / (to - from)) * 1_000;
}

/** Deliveries sent but not arrived, at the end of each second of sending. */
export function lagBySecond(wave: Wave, receivedAt: Float64Array, selection: Selection = {}): number[] {
  const indexes = select(wave, selection);
  const began = wave.sentAt[indexes[0] ?? 0] ?? NaN;
  const seconds = Math.floor(((wave.sentAt[indexes.at(-1) ?? 0] ?? NaN) - began) / 1_000);
  const lags: number[] = [];
  for (let second = 1; second <= seconds; second += 1) {
    const now = began + second * 1_000;
    const by = (times: Float64Array): number =>
      indexes.reduce((sum, index) => sum + ((times[index] ?? NaN) <= now ? 1 : 0), 0);
    lags.push(by(wave.sentAt) - by(receivedAt));
  }
  return lags;
}

/** Whether the lag of the last third is far above that of the first; a few in flight and a GC pause are no growth. */
export function lagGrows(lags: readonly number[]): boolean {
  const third = Math.max(1, Math.floor(lags.length / 3));
  return median(lags.slice(-third)) > median(lags.slice(0, third)) * 2 + 50;
}

/** Arrivals a second in each tenth, in the order of arrival. */
export function throughputByTenth(receivedAt: Float64Array, beganAt: number): number[] {
  const sorted = receivedAt.filter((at) => !Number.isNaN(at)).sort();
  let before = { count: 0, at: beganAt };
  return Array.from({ length: 10 }, (_, tenth) => {
    const count = Math.round((sorted.length * (tenth + 1)) / 10);
    const at = sorted[count - 1] ?? NaN;
    const rate = ((count - before.count) / (at - before.at)) * 1_000;
    before = { count, at };
    return rate;
  });
}
