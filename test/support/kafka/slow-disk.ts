/** A disk that takes long to write what programs want to be safe, for one process: its calls of fsync are slow. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from '../tools/command.ts';

export interface SlowDisk extends AsyncDisposable {
  /** For the process. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on each call takes so much longer. */
  delay(ms: number): Promise<void>;
}

/** Undefined where there is no Linux, or no C compiler. */
export async function openSlowDisk(): Promise<SlowDisk | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-disk-'));
  const [library, file] = [path.join(folder, 'slow-fsync.so'), path.join(folder, 'delay')];
  const source = path.join(import.meta.dirname, 'slow-fsync.c');
  const remove = (): Promise<void> => rm(folder, { recursive: true });
  const isCompiled = await run('cc', ['-shared', '-fPIC', '-o', library, source]).then(
    () => process.platform === 'linux',
    () => false,
  );
  if (!isCompiled) {
    await remove();
    return undefined;
  }
  const delay = (ms: number): Promise<void> => writeFile(file, String(ms));
  await delay(0);
  return { env: { LD_PRELOAD: library, SLOW_FSYNC: file }, delay, [Symbol.asyncDispose]: remove };
}
