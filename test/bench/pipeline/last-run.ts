/** The figures of the last run on this machine, to compare with. */
import { hash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cacheDir } from '@tailrace/local';
import type { Machine } from '../figures/machine.ts';
import { hundredths, table, tenths, type Row } from '../figures/table.ts';

export interface Run {
  readonly machine: Pick<Machine, 'date' | 'commit' | 'cpu' | 'cores' | 'memoryGiB'>;
  /** CPU time of a fixed amount of work, in milliseconds. */
  readonly calibrationMs: number;
  readonly figures: Readonly<Record<string, number>>;
}

/** Keeps the run in the user's cache, and returns the last one. */
export async function replaceLastRun(run: Run): Promise<Run | undefined> {
  const { cpu, cores, memoryGiB } = run.machine;
  const machine = hash('sha1', `${cpu} ${cores} ${memoryGiB}`).slice(0, 12);
  const file = path.join(cacheDir(process.env), 'bench', `${machine}.json`);
  const last = await readFile(file, 'utf8').catch(() => undefined);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(run, null, 2)}\n`);
  return last === undefined ? undefined : (JSON.parse(last) as Run);
}

/** Machines whose calibration differs by more give other figures. */
const sameWithin = 0.05;

export function renderComparison(run: Run, last: Run): string {
  const machineRatio = run.calibrationMs / last.calibrationMs;
  const hasChanged = Math.abs(machineRatio - 1) > sameWithin;
  const rows = Object.entries(run.figures).flatMap(([title, now]): Row[] => {
    const before = last.figures[title];
    return before === undefined ? [] : [[title, tenths(before), tenths(now), hundredths(now / before)]];
  });
  const title = `The last run here: ${last.machine.date}, commit ${last.machine.commit}`;
  return (
    `${table([title, 'last', 'now', 'ratio'], rows)}\n` +
    `  ${hasChanged ? 'THE MACHINE HAS CHANGED' : 'The machine is the same'}: a fixed amount of work takes ` +
    `${hundredths(machineRatio)} times the CPU time`
  );
}
