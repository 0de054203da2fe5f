/**
 * `npm run check:infra` and `npm run test:infra`: what is under infra/, without and with running services. The programs they
 * need are in a cache outside of the checkout; the first run gets them. Arguments are test files; by default all are run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { testEnvironment } from './support/caches.ts';
import { collectingNotRun, partsNotRun } from './support/not-run.ts';

const root = path.join(import.meta.dirname, '..');
const parts = {
  /** No services run. */
  check: {
    files: ['test/infra/check/**/*.test.ts'],
    runner: ['--disable-warning=TimeoutNegativeWarning', '--test', '--test-concurrency=2'],
  },
  /** Each of these loads the machine by itself. */
  live: {
    files: ['test/infra/quick/**/*.test.ts', 'test/infra/live/**/*.test.ts'],
    runner: ['test/run.ts', '--test-concurrency=1'],
  },
} as const;

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<boolean> {
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...testEnvironment(process.env), ...env },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

const [part, ...chosen] = process.argv.slice(2);
if (part !== 'check' && part !== 'live') throw new Error('Say what to run: check or live.');
const { files, runner } = parts[part];
const folder = mkdtempSync(path.join(tmpdir(), 'tailrace-infra-'));
const collected = path.join(folder, 'not-run');
try {
  const passed =
    (await run(['infra/tools/src/main.ts'])) &&
    (await run([...runner, ...(chosen.length > 0 ? chosen : files)], collectingNotRun(collected)));
  process.exitCode = passed ? 0 : 1;
  const missing = partsNotRun(collected);
  if (missing.length > 0) {
    process.stderr.write(
      `\nNOT RUN on this machine (${missing.length}):\n  ${missing.join('\n  ')}\n` +
        `${passed ? 'Passed' : 'Failed'}, without: ${missing.map((line) => line.split(':')[0]).join(', ')}\n`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}
