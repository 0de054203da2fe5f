/** A short campaign (docs/campaign.md): a service is killed, a link is cut, and a broker hangs, while calls are sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf, renderTable } from '../campaign/report.ts';
import { runCampaign } from '../campaign/run.ts';
import type { Fault } from '../campaign/schedule.ts';
import { castOf } from '../campaign/stage.ts';

const ratePerSecond = 10;
const lengthMs = 20_000;
const users = 15;

const faults: readonly Fault[] = [
  { id: 1, kind: 'service killed', target: 'router-1', atMs: 2_000, durationMs: 500 },
  { id: 2, kind: 'link cut', target: 'delivery-1|broker-2', atMs: 4_000, durationMs: 4_000 },
  { id: 3, kind: 'broker frozen', target: 'broker-3', atMs: 10_000, durationMs: 2_000 },
  { id: 4, kind: 'service killed', target: 'delivery-1', atMs: 14_000, durationMs: 500 },
];

test('a short campaign breaks no promise', async (t) => {
  const plan = { cast: castOf(1, users), faults, ratePerSecond, lengthMs };
  const outcome = await runCampaign(plan, (line) => {
    t.diagnostic(line);
  });
  t.diagnostic(renderTable(figuresOf(outcome, plan)));
  const { facts, verdict } = outcome;
  assert.deepEqual(verdict.violations, []);
  assert.equal(facts.episodes.length, faults.length);
});
