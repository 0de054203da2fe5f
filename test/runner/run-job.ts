/** Runs one job as a process, and returns how it went. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { testEnvironment } from '../support/caches.ts';
import type { Job } from './job.ts';
import { countsVariable, type Counts } from './reporter.ts';
import { usageVariable, type Usage } from './usage.ts';

export interface Outcome extends Counts {
  readonly job: Job;
  readonly output: string;
  readonly seconds: number;
  /** Undefined for commands. */
  readonly usage: Usage | undefined;
}

/** A process that hangs is ended. Only tests on a cluster take a tenth of it. */
const longestMs = 60 * 60_000;
const here = (file: string): string => path.join(import.meta.dirname, file);

export async function runJob(
  job: Job,
  root: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Outcome> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tailrace-run-'));
  const [countsFile, usageFile] = [path.join(folder, 'counts'), path.join(folder, 'usage')];
  const [program = '', ...args] =
    'command' in job.run
      ? job.run.command
      : [
          process.execPath,
          ...['usage.ts', 'promises.ts'].map((file) => `--import=${pathToFileURL(here(file)).href}`),
          '--test-reporter=spec',
          '--test-reporter-destination=stdout',
          `--test-reporter=${pathToFileURL(here('reporter.ts')).href}`,
          `--test-reporter-destination=${countsFile}`,
          ...job.run.flags,
          ...job.run.files,
        ];
  const startedAt = performance.now();
  const child = spawn(program, args, {
    cwd: root,
    env: {
      ...testEnvironment(env),
      NODE_TEST_CONTEXT: undefined,
      [usageVariable]: usageFile,
      [countsVariable]: countsFile,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const ended = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
  ended.addEventListener('abort', () => child.kill('SIGTERM'));
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    if (ended.aborted) output += `\nended after ${seconds(startedAt).toFixed(0)} s\n`;
    const counts = (read(countsFile) as Counts | undefined) ?? {
      passed: 0,
      failed: 0,
      skipped: 0,
      failedFiles: [],
    };
    return {
      ...counts,
      // A process that fails before or after its tests has failed.
      failed: code === 0 ? counts.failed : Math.max(1, counts.failed),
      job,
      output,
      seconds: seconds(startedAt),
      usage: read(usageFile) as Usage | undefined,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function seconds(since: number): number {
  return (performance.now() - since) / 1_000;
}

function read(file: string): unknown {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return text === '' ? undefined : JSON.parse(text);
}
