import assert from 'node:assert/strict';
import test from 'node:test';
import type { PartCosts } from './bare-parts.ts';
import { compareWithParts, isSound } from './report.ts';
import type { RunResult } from './run.ts';

const clean = { sent: 10, lost: 0, repeated: 0, unexpected: 0, checked: 2, faults: [] };
const latency = { p50: 1, p99: 2, max: 3 };

function runWith(cpuMicroseconds: RunResult['cpuMicroseconds']): RunResult {
  return {
    deliveredPerSecond: 100,
    cpuMicroseconds,
    cpuShare: {},
    latencyMs: {
      sentToReceived: latency,
      dueToReceived: latency,
      acceptedToReceived: latency,
      sentToAccepted: latency,
    },
    account: clean,
  };
}

test('each service is compared with its bare parts, and all services with all parts, without the broker', () => {
  const cost = (median: number) => ({ median, min: 0, max: 1_000 });
  const costs: PartCosts = {
    serve: cost(100),
    'produce-20': cost(30),
    'produce-500': cost(16),
    consume: cost(5),
    post: cost(67),
  };
  const burst = [150, 140, 900].map((ingest) =>
    runWith({ ingest, router: 70, delivery: 110, broker: 120, receiver: 40 }),
  );
  const compared = compareWithParts(burst, costs).map(({ name, ours, bare }) => [name, ours, bare]);
  assert.deepEqual(compared, [
    ['ingest', 150, 100],
    ['router', 70, 35],
    ['delivery', 110, 88],
    ['all services', 330, 223],
  ]);
});

test('a run is sound if nothing is lost, altered or invented; repeats are allowed', () => {
  assert.ok(isSound({ ...clean, repeated: 3 }));
  assert.ok(!isSound({ ...clean, lost: 1 }));
  assert.ok(!isSound({ ...clean, unexpected: 1 }));
  assert.ok(!isSound({ ...clean, faults: ['call 7 is signed wrongly'] }));
});
