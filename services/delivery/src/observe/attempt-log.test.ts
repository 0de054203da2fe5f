import assert from 'node:assert/strict';
import test from 'node:test';
import { createLogTo } from '@tailrace/service';
import type { AttemptRecord } from '@tailrace/records';
import { AttemptLog, type LogAttempts } from './attempt-log.ts';
import { DeliveryCounts } from './counts.ts';

function attempt(more: Partial<AttemptRecord>): AttemptRecord {
  return {
    deliveryId: 'd',
    eventId: 'e',
    sourceId: 's',
    destinationId: 'crm',
    type: 'track',
    userKey: 'ada',
    attempt: 1,
    startedAt: '2026-11-21T09:43:25.118Z',
    latencyMs: 4,
    outcome: 'delivered',
    urls: [],
    ...more,
  };
}

function open(which: LogAttempts) {
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const totals = new DeliveryCounts();
  const log = new AttemptLog({ log: createLogTo(stream, 'test', 'info'), which, totals });
  const take = (more: Partial<AttemptRecord>): void => {
    totals.attempted(attempt(more), 10);
    log.attempted(attempt(more));
  };
  const ofAttempts = () => lines.filter(({ msg }) => msg === 'attempt');
  return { log, totals, lines, take, ofAttempts };
}

const outcomes = ['delivered', 'retry', 'dead'] as const;

for (const [which, shown] of [
  ['failures', ['retry', 'dead']],
  ['all', outcomes],
  ['none', []],
] as const) {
  test(`${which}: the logged attempts are ${shown.join(', ') || 'none'}`, () => {
    const { log, take, ofAttempts } = open(which);
    for (const outcome of outcomes) take({ outcome });
    log.close();
    assert.deepEqual(
      ofAttempts().map(({ outcome }) => outcome),
      shown,
    );
  });
}

test('a line has the fields of the record without the user', () => {
  const { log, take, ofAttempts } = open('all');
  take({ event: 'Order Completed' });
  log.close();
  const [line = {}] = ofAttempts();
  const ofLog = ['level', 'time', 'service', 'msg'];
  const fields = Object.entries(line).filter(([name]) => !ofLog.includes(name));
  const record = Object.entries(attempt({ event: 'Order Completed' }));
  assert.deepEqual(
    Object.fromEntries(fields),
    Object.fromEntries(record.filter(([name]) => name !== 'userKey')),
  );
});

test('7.3 timeouts of a destination are a warning at most once a minute, with their number', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 500;
  t.mock.method(performance, 'now', () => now);
  const pass = (ms: number): void => {
    now += ms;
    t.mock.timers.tick(ms);
  };
  const { log, take, lines } = open('none');
  const timeOut = (destinationId: string): void => {
    take({
      destinationId,
      outcome: 'retry',
      urls: [{ url: 'https://a', latencyMs: 5_000, reason: 'timeout' }],
    });
  };
  const warned = (): unknown[][] =>
    lines
      .filter(({ level }) => level === 'warn')
      .map((line) => [line['msg'], line['destinationId'], line['timeouts']]);
  for (let nth = 0; nth < 3; nth += 1) timeOut('crm');
  timeOut('erp');
  assert.deepEqual(warned(), [
    ['requests timed out', 'crm', 1],
    ['requests timed out', 'erp', 1],
  ]);
  pass(30_000);
  timeOut('crm');
  pass(30_000);
  assert.deepEqual(warned().slice(2), [['requests timed out', 'crm', 3]]);
  pass(120_000);
  timeOut('crm');
  timeOut('crm');
  log.close();
  assert.deepEqual(warned().slice(3), [
    ['requests timed out', 'crm', 1],
    ['requests timed out', 'crm', 1],
  ]);
  assert.equal(warned().length, 5);
});

test('a summary counts from the last one, and names the five destinations with the most failures', () => {
  const { log, totals, take, lines } = open('none');
  for (let nth = 1; nth <= 7; nth += 1) {
    for (let failure = 0; failure < nth; failure += 1) take({ destinationId: `d-${nth}`, outcome: 'retry' });
  }
  take({});
  totals.deadLetter('destination-deleted');
  totals.waits.deferred += 3;
  totals.waits.behind += 2;
  totals.waits.parked += 1;
  log.close();
  assert.equal(lines.length, 1);
  assert.partialDeepStrictEqual(lines[0], {
    msg: 'attempt summary',
    attempts: 29,
    delivered: 1,
    retried: 28,
    dead: 1,
    deferred: 3,
    behind: 2,
    parked: 1,
    topFailing: [7, 6, 5, 4, 3].map((failed) => ({ destinationId: `d-${failed}`, failed })),
  });
  log.close();
  assert.equal(lines.length, 1, 'nothing has happened since');
  take({});
  log.close();
  assert.partialDeepStrictEqual(lines[1], { attempts: 1, delivered: 1, retried: 0, dead: 0, topFailing: [] });
});
