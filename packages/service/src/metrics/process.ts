/** The metrics of the process itself: which code runs, and how busy the event loop is. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import type { Metrics } from './metrics.ts';

/** An image is built with this file, which holds the commit. It is in the folder of the project. */
export const revisionFile = path.join(import.meta.dirname, '../../../../REVISION');

const unknown = 'unknown';

/** The revision of the code; `unknown` if it runs outside of an image. */
export function readRevision(file = revisionFile): string {
  try {
    return readFileSync(file, 'utf8').trim().slice(0, 64) || unknown;
  } catch {
    return unknown;
  }
}

export function watchProcess(metrics: Metrics): void {
  const build = [{ labels: { version: packageJson.version, revision: readRevision() }, value: 1 }];
  metrics.gauge('tailrace_build_info', () => build);
  metrics.counter(
    'tailrace_event_loop_busy_seconds_total',
    () => performance.eventLoopUtilization().active / 1_000,
  );
}
