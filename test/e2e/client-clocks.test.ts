/** The client libraries in processes whose clock is an hour ahead (docs/specification.md, rules 4.2, 4.3 and 15.7). */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { run } from '../support/tools/command.ts';
import { buildGoProgramAhead } from '../support/clients.ts';
import { notRun } from '../support/not-run.ts';
import { openClock } from '../support/processes/clock.ts';
import { startPipeline } from '../support/processes/pipeline.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const pipeline = opened.use(await startPipeline({ cluster: new MemoryCluster() }));
const programs = path.join(import.meta.dirname, '../clients');
const hourMs = 3_600_000;

interface Body {
  readonly event: string;
  readonly timestamp: string;
  readonly properties: { readonly timestamp?: string };
}

/** @param runProgram runs a program of `test/clients`, and returns its clock as it has printed it */
async function assertTimes(runProgram: (args: readonly string[]) => Promise<string>): Promise<void> {
  const receiver = opened.use(await startReceiver());
  const { writeKey } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  const startMs = Date.now();
  // A correction by the clocks would move each of them by an hour.
  const imported = ['2014-02-03T04:05:06.789Z', new Date(startMs).toISOString()];
  const clockMs = Number(await runProgram([pipeline.ingestUrl, writeKey, ...imported]));
  const requests = await receiver.waitFor(imported.length + 1);
  const endMs = Date.now();
  const isBetween = (ms: number): boolean => startMs <= ms && ms <= endMs;
  assert.ok(isBetween(clockMs - hourMs), `the clock of the program is at ${clockMs} after ${startMs}`);

  const bodies = requests.map((request) => request.json() as Body);
  const [happened, ...others] = bodies.filter(({ event }) => event === 'Happened');
  assert.deepEqual(others, []);
  assert.ok(isBetween(Date.parse(happened?.timestamp ?? '')), `${happened?.timestamp} after ${startMs}`);
  const arrived = bodies.filter(({ event }) => event === 'Imported');
  assert.deepEqual(arrived.map(({ timestamp }) => timestamp).sort(), imported);
  for (const { timestamp, properties } of arrived) assert.equal(timestamp, properties.timestamp);
}

const title = 'set by the program arrive unchanged, and those of the library by the clock of Tailrace';

test(`15.7 timestamps of the TypeScript client ${title}`, async (t) => {
  await using clock = await openClock();
  if (!clock) {
    notRun(t, 'libfaketime is a package of Debian');
    return;
  }
  await clock.set(1);
  const program = path.join(programs, 'node-clock.ts');
  await assertTimes((args) => run(process.execPath, [program, ...args], { env: clock.env }));
});

test(`15.7 timestamps of the Go client ${title}`, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-go-'));
  opened.defer(() => rm(folder, { recursive: true }));
  const program = await buildGoProgramAhead(path.join(programs, 'go/clock'), folder);
  await assertTimes((args) => run(program, args));
});
