/**
 * Runs tests: `npm test`, `npm run check`, and `npm test -- test/integration/router.test.ts`. Each file runs in a process of its
 * own; one Kafka and one browser serve all. A file that fails runs once more, alone, after all others. If it passes then, the
 * run is green and lists it as flaky.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Job } from './runner/job.ts';
import { planOf } from './runner/plan.ts';
import { runAgain, runAll } from './runner/pool.ts';
import { provide } from './runner/provide.ts';
import { runJob, type Outcome } from './runner/run-job.ts';
import { costTable, lastLine, slowest, summaryOf } from './runner/summary.ts';
import { collectingNotRun, partsNotRun } from './support/not-run.ts';

const usage = `npm test                        everything
npm test -- NAME...             parts (check, lint, format, unit, go), folders or files of tests
npm test -- --again 5 NAME...   the same five times, to find tests that fail now and then

  --again N    run everything N times; a file that fails is not run once more
  --places N   jobs at the same time (default: three for each core)
`;

const root = path.join(import.meta.dirname, '..');
const results = path.join(import.meta.dirname, '.results');

const interrupted = new AbortController();
for (const [signal, exitCode] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
  process.on(signal, () => {
    process.exitCode = exitCode;
    interrupted.abort();
  });
}

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

interface Options {
  readonly again: number | undefined;
  readonly places: number;
  readonly names: readonly string[];
}

function optionsOf(args: readonly string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      again: { type: 'string' },
      places: { type: 'string', default: String(3 * availableParallelism()) },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return undefined;
  const again = values.again === undefined ? undefined : countOf(values.again, '--again');
  return { again, places: countOf(values.places, '--places'), names: positionals };
}

function countOf(text: string, option: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new Error(`${option} takes a number of 1 or more, and got ${text}.`);
}

async function main({ again, places, names }: Options): Promise<boolean> {
  const plan = planOf(names, root);
  const jobs = Array.from({ length: again ?? 1 }, () => plan).flat();
  const folder = mkdtempSync(path.join(tmpdir(), 'tailrace-tests-'));
  const notRunFile = path.join(folder, 'not-run');
  await using provided = provide(new Set(jobs.flatMap(({ needs }) => needs)), root, {
    say,
    signal: interrupted.signal,
  });
  const run = async (job: Job): Promise<Outcome> => {
    const env = { ...process.env, ...collectingNotRun(notRunFile), ...(await provided.variables(job.needs)) };
    return runJob(job, root, env, interrupted.signal);
  };
  let ended = 0;
  const outcomes = await runAll(jobs, places, run, (outcome) => {
    ended += 1;
    if (!interrupted.signal.aborted) show(outcome, `${ended}/${jobs.length}`);
  });
  if (interrupted.signal.aborted) return false;
  const repeated = again === undefined ? await runAgain(outcomes, root, run) : [];
  const summary = summaryOf(outcomes, repeated, partsNotRun(notRunFile).map(withoutReason));
  for (const line of partsNotRun(notRunFile)) say(`Not run: ${line}`);
  for (const { file, first, second } of repeated) {
    const [what, shown] = second.failed === 0 ? ['Flaky', first] : (['Failed twice', second] as const);
    say(`\n${what}: ${file}\n${failuresIn(shown)}`);
  }
  mkdirSync(results, { recursive: true });
  const flaky = summary.flaky.map(({ file, first }) => ({ file, output: first.output }));
  writeFileSync(path.join(results, 'flaky.json'), `${JSON.stringify(flaky, undefined, 2)}\n`);
  writeFileSync(path.join(results, 'cost.md'), costTable(outcomes));
  rmSync(folder, { recursive: true });
  say(`\nSlowest:\n${slowest(outcomes, 10).join('\n')}\n\n${lastLine(summary)}`);
  return summary.failed === 0;
}

function show(outcome: Outcome, place: string): void {
  const { job, passed, failed, seconds } = outcome;
  const counts = passed + failed === 0 ? '' : `${passed} passed, ${failed} failed, `;
  say(`${failed === 0 ? '✔' : '✖'} ${place} ${job.name} (${counts}${seconds.toFixed(1)} s)`);
  if (failed > 0) say(failuresIn(outcome));
}

/** The part of the output that node:test repeats at the end, where there is one. */
function failuresIn({ output }: Outcome): string {
  const at = output.lastIndexOf('✖ failing tests:');
  return at < 0 ? output : output.slice(at);
}

/** `images: Docker is not installed` → `images`. */
function withoutReason(line: string): string {
  return line.split(':', 1)[0] ?? line;
}

try {
  const options = optionsOf(process.argv.slice(2));
  if (options === undefined) process.stdout.write(usage);
  else if (!(await main(options))) process.exitCode ??= 1;
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n\n${usage}`);
  process.exitCode ??= 2;
}
