/** The lag of the real services through a rise and a fall of the load, which record.ts has recorded. */
import path from 'node:path';
import { epoch, scrapeSeconds } from './group.ts';
import type { Series } from './prometheus.ts';

export interface Recording {
  readonly recordedAt: string;
  readonly machine: string;
  /** The events a second, from a second on. */
  readonly phases: readonly { readonly fromSecond: number; readonly perSecond: number }[];
  /** By second: the lag of delivery's topic in seconds, and the seconds for which its event loop was busy since its start. */
  readonly samples: readonly (readonly [second: number, lagSeconds: number, busySeconds: number])[];
}

export const recordingFile = path.join(import.meta.dirname, 'recording.json');

/**
 * The series of a group whose replicas all are as the recorded one. A second of the recording becomes one scrape, so lag and busy
 * time grow as much: the same shape over a longer time, because an autoscaler acts within minutes.
 */
export function recordedSeries(
  { samples }: Recording,
  { labels, topic, replicas }: { readonly labels: string; readonly topic: string; readonly replicas: number },
): Series[] {
  return Array.from({ length: replicas }, (_, replica) => `${labels},pod="pod-${replica}"`).flatMap((own) => {
    const seriesOf = (name: string, valueAt: (sample: Recording['samples'][number]) => number): Series => ({
      name,
      samples: samples.map((sample, index) => ({
        atSeconds: epoch + index * scrapeSeconds,
        value: valueAt(sample) * scrapeSeconds,
      })),
    });
    return [
      seriesOf(`tailrace_consumer_lag_seconds{${own},topic="${topic}"}`, ([, lag]) => lag),
      seriesOf(`tailrace_event_loop_busy_seconds_total{${own}}`, ([, , busy]) => busy),
    ];
  });
}
