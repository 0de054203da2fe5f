/** The clock of one process, set by libfaketime. Its monotonic clock, and with it its timers, stay right. */
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { toolPath } from '../tools/tools.ts';
import type { Environment } from './process.ts';

export interface ProcessClock extends AsyncDisposable {
  /** For the process, which reads its clock anew each time. */
  readonly env: Environment;
  /** Sets it so many hours ahead, or behind where negative; 0 sets it right. */
  set(hours: number): Promise<void>;
  /** From now on the clock of this process, which is right, goes `rate` times as fast as time. */
  drift(rate: number, pid: number): Promise<void>;
}

/** Undefined where libfaketime cannot be had: it is a package of Debian. */
export async function openClock(): Promise<ProcessClock | undefined> {
  const library = await toolPath('libfaketime').catch(() => undefined);
  if (library === undefined) return undefined;
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-clock-'));
  const file = path.join(folder, 'offset');
  const write = async (ahead: number, unit: 'h' | '', rate = 1): Promise<void> => {
    // A process never reads a part of it.
    await writeFile(`${file}.new`, `${ahead < 0 ? '' : '+'}${ahead}${unit} x${rate}\n`);
    await rename(`${file}.new`, file);
  };
  const set = (hours: number): Promise<void> => write(hours, 'h');
  await set(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set,
    // The library counts with the rate since the start of the process.
    drift: async (rate, pid) => write(Number(((1 - rate) * (await ageS(pid))).toFixed(3)), '', rate),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** The seconds since the start of a process, by Linux, which counts in hundredths. */
async function ageS(pid: number): Promise<number> {
  const [stat = '', uptime = ''] = await Promise.all(
    [`/proc/${pid}/stat`, '/proc/uptime'].map((file) => readFile(file, 'utf8')),
  );
  // The name of the program, in parentheses, may contain spaces.
  const startedAt = Number(stat.slice(stat.lastIndexOf(')')).split(' ')[20]) / 100;
  return parseFloat(uptime) - startedAt;
}
