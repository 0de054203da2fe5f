/** A wave of deliveries, numbered, each for one of the stage's destinations; and what can be said of it afterwards. */
import { distribution, median, type Distribution } from '../figures/statistics.ts';

export interface Wave {
  /** Number of the first. */
  readonly first: number;
  readonly count: number;
  /** The place of each one's destination among those of the stage, by index. */
  readonly destinations: Uint16Array;
  /** When each was handed to Kafka, on the shared clock, by index; NaN until then. */
  readonly sentAt: Float64Array;
}

/** Some of a wave. */
export interface Selection {
  /** Indexes from here … */
  readonly from?: number;
  /** … to before here. */
  readonly to?: number;
  /** Whether this destination's are meant; by default all. */
  readonly of?: (destination: number) => boolean;
}

/** Destinations taking turns: `count` times the next of `turns`. */
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

/** From the handing to Kafka to the arrival, in milliseconds; of those that arrived. */
export function latencies(wave: Wave, receivedAt: Float64Array, selection: Selection = {}): Distribution {
  return distribution(
    select(wave, selection).map((index) => (receivedAt[index] ?? NaN) - (wave.sentAt[index] ?? NaN)),
  );
}

/** Arrivals a second, from the first one's sending to the last one's arrival. */
export function throughput(wave: Wave, receivedAt: Float64Array, selection: Selection = {}): number {
  const indexes = select(wave, selection);
  const arrived = indexes.map((index) => receivedAt[index] ?? NaN).filter((at) => !Number.isNaN(at));
  const from = indexes.reduce((least, index) => Math.min(least, wave.sentAt[index] ?? Infinity), Infinity);
  const to = arrived.reduce((most, at) => Math.max(most, at), -Infinity);
  return (arrived.length / (to - from)) * 1_000;
}

/** How many had been sent and not arrived at the end of each second of the sending. */
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

/** Whether a lag by second stays where it is; a few in flight, and a pause of the collector, are no growth. */
export function lagGrows(lags: readonly number[]): boolean {
  const third = Math.max(1, Math.floor(lags.length / 3));
  return median(lags.slice(-third)) > median(lags.slice(0, third)) * 2 + 50;
}

/** Arrivals a second in each tenth of them, in the order in which they came. */
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
