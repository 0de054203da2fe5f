import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnalyticsError } from './errors.ts';
import { reportOnStandardError } from './report.ts';

test('unsent calls are reported immediately, then at most every ten seconds with the number since the last line', () => {
  const lines: string[] = [];
  let now = 0;
  const report = reportOnStandardError(
    (line) => lines.push(line),
    () => now,
  );
  const error = new AnalyticsError('queue-full', '1 call not taken: the queue is full', { calls: ['{}'] });
  report(error);
  for (let i = 0; i < 4; i++) report(error);
  now = 10_000;
  report(error);
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /^analytics: 1 call not taken: the queue is full \(1 calls/);
  assert.match(lines[1] ?? '', /\(5 calls/);
});
