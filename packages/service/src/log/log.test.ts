import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TailraceError } from '@tailrace/errors';
import { simulateTime } from '@tailrace/testing';
import { createLogTo, type Log } from './log.ts';
import type { LogLevel } from '../settings/shared.ts';

function collect(level: LogLevel = 'info'): { log: Log; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const destination = {
    write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  };
  return { log: createLogTo(destination, 'test', level), lines };
}

test('a line contains time, level, service and message', () => {
  const { log, lines } = collect();
  log.warn({ destinationId: 'crm' }, 'slow');
  const { time, ...rest } = lines[0] ?? {};
  assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(rest, { level: 'warn', service: 'test', destinationId: 'crm', msg: 'slow' });
});

test('17.5 secrets and write keys are redacted at any depth of a line', () => {
  const { log, lines } = collect();
  const destination = {
    id: 'crm',
    settings: {
      sharedSecret: 's3cret',
      previousSharedSecret: 's3cret',
      tls: { clientKey: 's3cret' },
      webhooks: [{ headers: { 'X-Team-Key': 's3cret' } }],
    },
  };
  const source = { writeKeys: ['s3cret'], writeKey: 's3cret', 'api-token': 's3cret' };
  log.info({ destination, source, secret_key: 's3cret', password: 's3cret' }, 'loaded');
  assert.doesNotMatch(JSON.stringify(lines), /s3cret/);
  assert.match(JSON.stringify(lines), /"id":"crm"/);
  assert.equal(destination.settings.sharedSecret, 's3cret', 'what was logged is itself unchanged');
});

test('an error is logged with its code and its cause', () => {
  const { log, lines } = collect();
  const cause = new Error('connect ECONNREFUSED');
  log.error({ err: new TailraceError('kafka-unavailable', undefined, { cause }) }, 'publish');
  const { code, stack } = lines[0]?.['err'] as { code: string; stack: string };
  assert.equal(code, 'kafka-unavailable');
  assert.match(stack, /caused by: Error: connect ECONNREFUSED/);
});

test('an error that repeats has its stack once a minute, and a count between', () => {
  using _time = simulateTime();
  const { log, lines } = collect();
  const stacks = (): unknown[] =>
    lines.splice(0).map(({ err }) => {
      const { stack, message, repeats } = err as { stack?: string; message: string; repeats?: number };
      return [stack !== undefined, message, repeats];
    });
  const fail = (port: number): void => {
    const cause = new Error(`connect ECONNREFUSED 127.0.0.1:${port}`);
    log.warn({ err: new TailraceError('kafka-unavailable', `port ${port}`, { cause }) }, 'retrying');
  };
  for (const port of [1, 2, 3]) fail(port);
  log.error({ err: new TypeError('another') }, 'a defect');
  assert.deepEqual(stacks(), [
    [true, 'port 1: connect ECONNREFUSED 127.0.0.1:1', undefined],
    [false, 'port 2: connect ECONNREFUSED 127.0.0.1:2', 1],
    [false, 'port 3: connect ECONNREFUSED 127.0.0.1:3', 2],
    [true, 'another', undefined],
  ]);
});

test('the stack of a repeated error appears again after a minute, also within an aggregate and however many others there were', async () => {
  using time = simulateTime();
  const { log, lines } = collect();
  const fail = (): void => {
    log.warn({ err: new AggregateError([new Error('one')], 'several') }, 'retrying');
  };
  fail();
  fail();
  assert.match(JSON.stringify(lines[0]), /at fail/);
  assert.doesNotMatch(JSON.stringify(lines[1]), /"stack"/);
  await time.pass(60_000);
  fail();
  assert.match(JSON.stringify(lines[2]), /at fail/);
  // A message is part of no identity, also if it looks like a stack.
  const hostile = (nth: number): Error => Object.assign(new Error('x'), { code: `E${nth}` });
  for (let nth = 0; nth < 1_000; nth += 1) log.warn({ err: hostile(nth) }, 'retrying');
  fail();
  assert.match(JSON.stringify(lines.at(-1)), /at fail/);
});

test('lines below the level are left out', () => {
  const { log, lines } = collect('error');
  log.warn('quiet');
  assert.deepEqual(lines, []);
});
