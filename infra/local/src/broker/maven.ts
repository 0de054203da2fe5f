/** Downloads artifacts with Maven, with the Maven settings of the machine, into a cache outside of the checkout. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Environment, Progress } from './node.ts';

export interface MavenRun {
  readonly env: Environment;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/**
 * Runs Maven and passes its output to `onLine`. Resolves with the cause of a failure as a phrase, or undefined
 * after success.
 */
export async function runMaven(
  args: readonly string[],
  { env, signal }: MavenRun,
  onLine: (line: string) => void = () => undefined,
): Promise<string | undefined> {
  const maven = spawn('mvn', ['-B', ...args], {
    env: { ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    signal,
  });
  const problems: string[] = [];
  createInterface({ input: maven.stdout }).on('line', (line) => {
    onLine(line);
    if (line.includes('ERROR')) problems.push(line.replace(/^.*?ERROR\S*\s*/, ''));
  });
  const failure = await new Promise<string | undefined>((resolve) => {
    maven.on('error', (error) => resolve(error.message));
    maven.on('close', (code, signal) => {
      const said = problems.find((problem) => problem !== '');
      resolve(code === 0 ? undefined : (said ?? `it ended with ${signal ?? code}`));
    });
  });
  signal.throwIfAborted();
  return failure;
}

/**
 * Makes a folder of the cache. `fill` gets another one, which is renamed when it is complete, so that neither an interrupted
 * download nor a concurrent start leaves a part of it.
 *
 * @param isMade whether a concurrent start has made the folder
 */
export async function makeCached(
  folder: string,
  fill: (partial: string) => Promise<void>,
  isMade: () => Promise<boolean>,
): Promise<void> {
  const partial = `${folder}.partial-${randomUUID()}`;
  await mkdir(partial, { recursive: true });
  try {
    await fill(partial);
    await rename(partial, folder).catch(async (error: unknown) => {
      if (!(await isMade())) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** The directory of downloads. */
export function cacheDir(env: Environment): string {
  const base = env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.cache') : base, 'tailrace');
}
