import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replicaFindings } from './findings.ts';
import type { ReplicaReport } from './look.ts';
import type { ReplicaMetrics } from './metrics-text.ts';

const metrics: ReplicaMetrics = {
  version: '1.2.0',
  revision: 'abc',
  failingChecks: [],
  configAgeSeconds: 1,
  lagSeconds: {},
  clockSeconds: undefined,
  topics: ['tailrace.events'],
};

function replica(number: number, more: Partial<ReplicaReport> = {}): ReplicaReport {
  return {
    service: 'router',
    url: `http://10.0.0.${number}:9465`,
    state: 'ready',
    aheadMs: 0,
    metrics,
    ...more,
  };
}

/** Level and subject of each finding, and what it says. */
function findingsOf(...reports: ReplicaReport[]): string[] {
  return replicaFindings(reports, 'tailrace.').map(({ level, about, says }) => `${level} ${about}: ${says}`);
}

test('healthy replicas are counted by service', () => {
  assert.deepEqual(findingsOf(replica(1), replica(2), replica(3, { service: 'delivery' })), [
    'ok replicas: router: 2 replicas ready',
    'ok replicas: delivery: 1 replica ready',
    'ok versions: all replicas run 1.2.0 (abc)',
    'ok clock: the clocks of the replicas agree with this machine',
  ]);
});

test('replicas that are silent or not ready are named with the reason, and long lists are cut', () => {
  const silent = Array.from({ length: 8 }, (_, index) =>
    replica(index + 1, { state: 'silent', reason: 'no response within 5 s' }),
  );
  const [first, second] = findingsOf(...silent, replica(9, { state: 'not-ready', reason: 'kafka: down' }));
  assert.match(
    first ?? '',
    /^fail replicas: router: 8 of 9 replicas cannot be reached: router 10\.0\.0\.1:9465 \(no response within 5 s\), .* and 3 more\.$/,
  );
  assert.equal(
    second,
    'fail replicas: router: 1 of 9 replicas not ready: router 10.0.0.9:9465 (kafka: down).',
  );
});

test('different versions, an old configuration and a failing check are warnings', () => {
  const found = findingsOf(
    replica(1),
    replica(2, { metrics: { ...metrics, version: '1.3.0', configAgeSeconds: 400 } }),
    replica(3, { aheadMs: -4_900, metrics: { ...metrics, failingChecks: ['kafka'] } }),
  );
  assert.deepEqual(found, [
    'warn replicas: router: checks fail: router 10.0.0.3:9465 (kafka).',
    'warn versions: replicas run different versions: 1.2.0 (abc) (2 replicas: router); 1.3.0 (abc) (1 replica: router).',
    'warn config: the configuration of these replicas may be out of date: router 10.0.0.2:9465 (400 s).',
    'ok clock: the clocks of the replicas agree with this machine',
  ]);
});

test('a replica of another installation is a failure', () => {
  const [, foreign] = findingsOf(
    replica(1),
    replica(2, { metrics: { ...metrics, topics: ['staging.events'] } }),
  );
  assert.match(
    foreign ?? '',
    /^fail replicas: .* without the prefix tailrace\.: router 10\.0\.0\.2:9465 \(staging\.events\)/,
  );
});

test('a clock that is wrong by more than 5 s is a failure, with the replica, the size and the remedy', () => {
  const control = replica(3, { service: 'control', aheadMs: -600_000 });
  const findings = replicaFindings(
    [replica(1, { aheadMs: 5_000 }), replica(2, { aheadMs: 5_100 }), control],
    'tailrace.',
  );
  const clock = findings.filter(({ about }) => about === 'clock');
  assert.deepEqual(
    clock.map(({ level, says }) => `${level} ${says}`),
    [
      'fail clocks are wrong: router 10.0.0.2:9465 (5 s ahead), control 10.0.0.3:9465 (600 s behind). Times, ages and delays of retries are off by as much.',
    ],
  );
  assert.match(clock[0]?.hint ?? '', /NTP/);
});

test('where most replicas agree with each other, the clock of this machine is the one that is wrong', () => {
  const clocks = (...aheadMs: readonly number[]): string[] =>
    findingsOf(...aheadMs.map((ms, nth) => replica(nth + 1, { aheadMs: ms }))).filter((text) =>
      text.includes(' clock: '),
    );
  assert.deepEqual(clocks(-60_000, -60_100, -60_200), [
    'warn clock: the clock of this machine is wrong: 60 s ahead, by those of most replicas.',
  ]);
  assert.match(
    clocks(60_000).join(),
    /^fail clock: clocks are wrong: router 10\.0\.0\.1:9465 \(60 s ahead\)/,
  );
});
