import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnalyticsError } from './errors.ts';
import { isEnabled, reportLines } from './report.ts';

test('unsent calls are reported immediately, then at most every ten seconds with the number since the last line', () => {
  const lines: string[] = [];
  let now = 0;
  const report = reportLines(
    (line) => lines.push(line),
    () => now,
  );
  const error = new AnalyticsError('queue-full', '1 call not queued: the queue is full', { calls: ['{}'] });
  report(error);
  for (let i = 0; i < 4; i++) report(error);
  now = 10_000;
  report(error);
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /^analytics: 1 call not queued: the queue is full \(1 calls/);
  assert.match(lines[1] ?? '', /\(5 calls/);
});

test('a clock that is set back does not delay the next line', (t) => {
  const lines: string[] = [];
  const error = new AnalyticsError('queue-full', 'full', { calls: ['{}'] });
  const report = reportLines((line) => lines.push(line));
  let elapsedMs = 0;
  t.mock.method(performance, 'now', () => elapsedMs);
  report(error);
  t.mock.timers.enable({ apis: ['Date'], now: 0 });
  elapsedMs = 10_000;
  report(error);
  assert.equal(lines.length, 2);
});

test('15.5 DEBUG enables the output by name and by pattern, and a minus sign disables it', () => {
  const enabled = [
    'analytics',
    '*',
    'http,analytics',
    'http analytics',
    'ana*',
    '*lytics',
    'a*y*s',
    'x, ana*s ,y',
  ];
  const disabled = [
    '',
    'analytic',
    'analytics:*',
    'Analytics',
    '-analytics',
    '*,-analytics',
    '-ana*,analytics',
    'b*',
    'a*x*s',
    'analytics*s',
  ];
  assert.deepEqual(enabled.filter(isEnabled), enabled);
  assert.deepEqual(disabled.filter(isEnabled), []);
});
