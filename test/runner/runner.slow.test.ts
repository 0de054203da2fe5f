import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileJob, groupJob, type Job } from './job.ts';
import { planOf } from './plan.ts';
import { runAgain, runAll, type SecondRun } from './pool.ts';
import { runJob, type Outcome } from './run-job.ts';
import { costTable, lastLine, slowest, summaryOf } from './summary.ts';

const root = path.join(import.meta.dirname, '../..');
const folder = mkdtempSync(path.join(tmpdir(), 'tailrace-runner-'));
after(() => {
  rmSync(folder, { recursive: true });
});

const notAborted = new AbortController().signal;
const run = (job: Job): Promise<Outcome> => runJob(job, folder, process.env, notAborted);

function write(name: string, lines: readonly string[]): string {
  const head = [
    `import assert from 'node:assert';`,
    `import fs from 'node:fs';`,
    `import test from 'node:test';`,
  ];
  writeFileSync(path.join(folder, name), [...head, ...lines].join('\n'));
  return name;
}

const passing = write('passing.test.ts', [`test('one', () => {});`, `test('two', () => {});`]);
const flaky = write('flaky.test.ts', [
  `test('passes', () => {});`,
  `test('fails the first time', () => {`,
  `  const isFirst = !fs.existsSync('seen');`,
  `  fs.writeFileSync('seen', '');`,
  `  assert.ok(!isFirst, 'the first failure');`,
  `});`,
]);
const failing = write('failing.test.ts', [`test('fails', () => assert.fail('always'));`]);
const ending = write('ending.test.ts', [`process.exit(3);`]);

async function everything(
  jobs: readonly Job[],
): Promise<{ outcomes: readonly Outcome[]; again: readonly SecondRun[] }> {
  const outcomes = await runAll(jobs, 2, run, () => undefined);
  return { outcomes, again: await runAgain(outcomes, folder, run) };
}

test('a file that fails runs once more, and is flaky if it passes', async () => {
  const { outcomes, again } = await everything([passing, flaky].map(fileJob));
  const summary = summaryOf(outcomes, again, []);
  assert.equal(lastLine(summary), '4 passed, 0 failed, 1 flaky');
  const [first] = summary.flaky;
  assert.equal(first?.file, flaky);
  assert.match(first.first.output, /the first failure/);
});

test('a file that fails twice fails, and so does a process that ends without tests', async () => {
  const { outcomes, again } = await everything([passing, failing, ending].map(fileJob));
  assert.deepEqual(again.map(({ file }) => file).sort(), [ending, failing]);
  assert.equal(lastLine(summaryOf(outcomes, again, [])), '2 passed, 2 failed, 0 flaky');
});

test('of unit tests that share a process, only the files that failed run again', async () => {
  const { outcomes, again } = await everything([groupJob('unit tests', [passing, failing])]);
  assert.deepEqual(
    again.map(({ file }) => file),
    [failing],
  );
  assert.equal(lastLine(summaryOf(outcomes, again, [])), '2 passed, 1 failed, 0 flaky');
});

test('a test that fails in a file that test files share fails twice', async () => {
  write('contract.ts', [`export const run = () => test('is kept', () => assert.fail('always'));`]);
  const keeping = write('keeping.test.ts', [`import { run } from './contract.ts';`, `run();`]);
  for (const job of [fileJob(keeping), groupJob('unit tests', [passing, keeping])]) {
    const { outcomes, again } = await everything([job]);
    const passed = job.name === keeping ? 0 : 2;
    assert.equal(lastLine(summaryOf(outcomes, again, [])), `${passed} passed, 1 failed, 0 flaky`);
  }
});

test('a rejection that nobody handles fails the process', async () => {
  const rejecting = write('rejecting.test.ts', [
    `test('passes', () => void Promise.reject(new Error('aside')));`,
    `test('still runs', () => {});`,
  ]);
  const { outcomes, again } = await everything([groupJob('unit tests', [rejecting])]);
  assert.deepEqual([outcomes[0]?.passed, outcomes[0]?.failed, again[0]?.second.failed], [2, 1, 1]);
  assert.match(outcomes[0]?.output ?? '', /aside/);
});

test('a command fails with its exit code, and runs again only if it runs tests', async () => {
  const command = [process.execPath, '-e', 'process.exit(1)'];
  const { outcomes, again } = await everything([
    { name: 'lint', run: { command }, needs: [] },
    { name: 'tests', run: { command, runsTests: true }, needs: [] },
  ]);
  assert.deepEqual(
    outcomes.map(({ failed }) => failed),
    [1, 1],
  );
  assert.deepEqual(
    again.map(({ file }) => file),
    ['tests'],
  );
});

test('a process that does not end is ended, and has failed', async () => {
  const hanging = write('hanging.test.ts', [
    `test('hangs', () => new Promise(() => setInterval(() => {}, 1e6)));`,
  ]);
  const interrupted = new AbortController();
  const outcome = runJob(fileJob(hanging), folder, process.env, interrupted.signal);
  interrupted.abort();
  assert.ok((await outcome).failed > 0);
});

test('the cost of a file includes its children', async () => {
  const burning = write('burning.test.ts', [
    `import { execFile } from 'node:child_process';`,
    `test('burns', (t, done) => {`,
    `  const burn = 'while (process.cpuUsage().user < 500_000);';`,
    `  execFile(process.execPath, ['-e', burn], done);`,
    `});`,
  ]);
  const outcome = await run(fileJob(burning));
  assert.equal(outcome.usage?.processes, 1);
  if (process.platform === 'linux') assert.ok(outcome.usage.cpuSeconds >= 0.5);
  assert.match(costTable([outcome]), /^\| burning\.test\.ts \| [\d.]+ \| [\d.]+ \| [\d.]+ \| 1 \|$/m);
  assert.match(slowest([outcome], 10).join(), /burning\.test\.ts \(processor [\d.]+ s, 1 processes\)/);
});

test('the last line names what did not run, with large numbers readable', () => {
  const summary = { passed: 1_834, failed: 0, flaky: [], notRun: ['Docker', 'Docker'], outcomes: [] };
  assert.equal(lastLine(summary), '1,834 passed, 0 failed, 0 flaky, 2 not run (Docker)');
});

test('everything is planned without names, each job once', () => {
  const names = planOf([], root).map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const wanted of ['lint and types', 'format', 'unit tests: delivery', 'Go client library']) {
    assert.ok(names.includes(wanted), wanted);
  }
  assert.ok(!names.some((name) => /infra\/(live|cluster)/.test(name)));
  assert.deepEqual(
    planOf(['lint', 'lint'], root).map(({ name }) => name),
    ['lint and types'],
  );
});

test('every test file of the project is planned', () => {
  const filesOf = (names: readonly string[]): string[] =>
    planOf(names, root).flatMap(({ run }) => ('files' in run ? run.files : []));
  const planned = filesOf([]);
  const tracked = filesOf(['packages', 'services', 'infra', 'test', 'docs']);
  const missing = tracked.filter((file) => !planned.includes(file));
  assert.deepEqual(
    missing.filter((file) => !/^test\/infra\/(live|cluster)\//.test(file)),
    [],
  );
});

test('a name that means nothing is an error that lists the parts', () => {
  assert.throws(() => planOf(['test/nothing'], root), /test\/nothing is neither a part \(check, lint/);
});
