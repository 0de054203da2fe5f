/** What an installation takes at one moment of a soak. */
import { seriesIn, sumOf, pageOf, type Series } from '../../support/metrics/scrape.ts';
import { mapValues, residentBytes, type ByProcess } from '../figures/measure.ts';
import { bytesByTopic } from '../figures/topic-bytes.ts';

/** A line of `samples.jsonl`. Sizes are in MiB. */
export interface Sample {
  /** In which piece of the soak, from 1 on. */
  readonly piece: number;
  /** Accepted since the last sample, and not delivered a minute after it. */
  readonly calls: number;
  readonly lost: number;
  /** From the time at which a call is due to its arrival. */
  readonly p99Ms: number;
  readonly memory: ByProcess;
  readonly openFiles: ByProcess;
  /** Of V8's collections since the start of the process, in milliseconds. */
  readonly meanPause: ByProcess;
  /** Records that wait, those of retry topics included. */
  readonly lag: ByProcess;
  /** By topic. */
  readonly kafka: ByProcess;
  readonly history: number;
}

type Resources = Omit<Sample, 'piece' | 'calls' | 'lost' | 'p99Ms'>;

export interface Sampled {
  /** Of the services and the broker. */
  readonly pids: ByProcess;
  /** Of the services. */
  readonly metricsPorts: ByProcess;
  /** Of the broker. */
  readonly dataDir: string;
}

const mebibyte = 2 ** 20;

export async function takeResources({ pids, metricsPorts, dataDir }: Sampled): Promise<Resources> {
  const names = Object.keys(metricsPorts);
  const series = new Map<string, readonly Series[]>();
  for (const name of names)
    series.set(name, seriesIn(await pageOf(`http://127.0.0.1:${metricsPorts[name]}`)));
  const of = (metric: string, among = names): ByProcess =>
    Object.fromEntries(among.map((name) => [name, sumOf(series.get(name) ?? [], { name: metric })]));
  const pauses = of('nodejs_gc_duration_seconds_count');
  return {
    memory: mapValues(pids, (pid) => residentBytes(pid) / mebibyte),
    openFiles: of('process_open_fds'),
    meanPause: mapValues(
      of('nodejs_gc_duration_seconds_sum'),
      (seconds, name) => (seconds * 1_000) / (pauses[name] ?? NaN),
    ),
    lag: of('tailrace_consumer_lag_records', ['router', 'delivery']),
    kafka: mapValues(bytesByTopic(dataDir), (bytes) => bytes / mebibyte),
    history: sumOf(series.get('control') ?? [], { name: 'tailrace_history_bytes' }) / mebibyte,
  };
}
