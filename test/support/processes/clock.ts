/** The clock of one process, set by libfaketime. Its monotonic clock, and with it its timers, stay right. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { toolPath } from '../tools/tools.ts';
import type { Environment } from './process.ts';

export interface ProcessClock extends AsyncDisposable {
  /** For the process, which reads its clock anew each time. */
  readonly env: Environment;
  /** Sets it so many hours ahead, or behind where negative; 0 sets it right. */
  set(hours: number): Promise<void>;
}

/** Undefined where libfaketime cannot be had: it is a package of Debian. */
export async function openClock(): Promise<ProcessClock | undefined> {
  const library = await toolPath('libfaketime').catch(() => undefined);
  if (library === undefined) return undefined;
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-clock-'));
  const file = path.join(folder, 'offset');
  const set = (hours: number): Promise<void> => writeFile(file, `${hours < 0 ? '' : '+'}${hours}h\n`);
  await set(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
