/**
 * `npm run check`: formatting, lint, types and unit tests, as many at the same time as there are cores. Each job's
 * output is printed when it has ended, and all jobs run to their end, so that one run shows every problem.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { cacheFolder, testEnvironment } from './support/caches.ts';

interface Job {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

const root = path.join(import.meta.dirname, '..');
const unitTests = [
  ...[
    'packages/*/src/**/*.test.ts',
    'packages/console/web/**/*.test.ts',
    'services/*/src/**/*.test.ts',
    'infra/*/src/**/*.test.ts',
  ],
  ...[
    'test/support/**/*.test.ts',
    'test/bench/**/*.test.ts',
    'test/*.test.ts',
    'test/pipeline/*.test.ts',
    'docs/generate/*.test.ts',
  ],
];
const shards = 3;

/** One process runs many test files: starting one for each costs more than the tests do. */
function unitJob(shard: number): Job {
  const flags = ['--test-isolation=none', '--test-timeout=60000', `--test-shard=${shard}/${shards}`];
  return { name: `unit tests ${shard}/${shards}`, command: ['node', '--test', ...flags, ...unitTests] };
}

/** The longest first. */
const jobs: readonly Job[] = [
  {
    name: 'lint',
    command: ['eslint', '--max-warnings', '0', '--cache', '--cache-location', `${cacheFolder}/eslint`, '.'],
  },
  ...Array.from({ length: shards }, (_, index) => unitJob(index + 1)),
  { name: 'types', command: ['tsc', '--incremental', '--tsBuildInfoFile', `${cacheFolder}/types.json`] },
  {
    name: 'types of the console',
    command: [
      ...['tsc', '--project', 'packages/console/web', '--incremental'],
      ...['--tsBuildInfoFile', `${cacheFolder}/types-console.json`],
    ] as [string, ...string[]],
  },
  {
    name: 'formatting',
    command: [
      'prettier',
      '--check',
      '--log-level',
      'warn',
      '--cache',
      '--cache-location',
      `${cacheFolder}/prettier`,
      '.',
    ],
  },
];

/** Whether the job succeeded. */
async function run({ name, command: [program, ...args] }: Job): Promise<boolean> {
  const startedAt = performance.now();
  const env = testEnvironment(process.env);
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit').then(([code]) => code === 0);
  const [passed, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(
    `${passed ? '✔' : '✖'} ${name} (${seconds} s)\n${passed ? summaryOf(out) : out + err}`,
  );
  return passed;
}

/** The counts at the end of a test run; nothing of other jobs. */
function summaryOf(out: string): string {
  const counts = /^ℹ (tests|pass|fail|skipped) \d+$/gm;
  const lines = out.match(counts) ?? [];
  return lines.length === 0 ? '' : `  ${lines.map((line) => line.slice(2)).join(' · ')}\n`;
}

const only = process.argv[2];
const waiting = jobs.filter(({ name }) => only === undefined || name.startsWith(only));
let passed = waiting.length > 0;
async function work(): Promise<void> {
  for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
    if (!(await run(job))) passed = false;
  }
}
await Promise.all(Array.from({ length: Math.max(3, availableParallelism() + 1) }, work));
process.exitCode = passed ? 0 : 1;
