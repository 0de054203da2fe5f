import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import type { RetryReason } from './answer.ts';
import { judgeStatus } from './judge-status.ts';

const now = Date.parse('2026-11-21T08:00:00Z');

describe('the meaning of a status', () => {
  const range = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const retryable = new Map<number, RetryReason>([
    [408, 'request-timeout'],
    [429, 'too-many-requests'],
    ...range(500, 599).map((status) => [status, 'server-error'] as const),
  ]);

  test('is success for every 2xx', () => {
    for (const status of range(200, 299)) {
      assert.deepEqual(judgeStatus(status, undefined, now), { kind: 'success', status });
    }
  });

  test('is a failure that may pass for 408, 429 and every 5xx', () => {
    for (const [status, reason] of retryable) {
      assert.deepEqual(judgeStatus(status, undefined, now), { kind: 'retryable', reason, status });
    }
  });

  test('is a failure for good for every 3xx and every other 4xx', () => {
    for (const status of range(300, 499)) {
      if (retryable.has(status)) continue;
      const reason = status < 400 ? 'redirect' : 'client-error';
      assert.deepEqual(judgeStatus(status, undefined, now), { kind: 'permanent', reason, status });
    }
  });

  test('is a failure for good for what HTTP does not define', () => {
    for (const status of [600, 700, 999]) {
      const reason = 'unexpected-status';
      assert.deepEqual(judgeStatus(status, undefined, now), { kind: 'permanent', reason, status });
    }
  });
});

describe('Retry-After', () => {
  const asked = (value: string | undefined, status = 429): number | undefined => {
    const answer = judgeStatus(status, value, now);
    return answer.kind === 'retryable' ? answer.retryAfterMs : undefined;
  };

  test('may be seconds', () => {
    assert.equal(asked('120'), 120_000);
    assert.equal(asked(' 7 '), 7_000);
    assert.equal(asked('0'), 0);
  });

  const dates = [
    'Sat, 21 Nov 2026 08:01:30 GMT',
    'Saturday, 21-Nov-26 08:01:30 GMT',
    'Sat Nov 21 08:01:30 2026',
  ];

  test('may be a date in each of the three forms that HTTP has', () => {
    for (const date of dates) assert.equal(asked(date), 90_000, date);
  });

  test('means the same in a process of another time zone', () => {
    const moduleUrl = new URL('judge-status.ts', import.meta.url).href;
    const code = `
      import { judgeStatus } from ${JSON.stringify(moduleUrl)};
      const judge = (date) => judgeStatus(429, date, ${now}).retryAfterMs;
      console.log(new Date(${now}).getTimezoneOffset(), ...${JSON.stringify(dates)}.map(judge));`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
      env: { TZ: 'America/New_York' },
      encoding: 'utf8',
    });
    assert.equal(printed.trim(), '300 90000 90000 90000');
  });

  test('in the past asks for nothing', () => {
    assert.equal(asked('Fri, 20 Nov 2026 08:00:00 GMT'), 0);
  });

  test('is understood with 408 and 503 too, and means nothing with a failure for good', () => {
    assert.equal(asked('30', 408), 30_000);
    assert.equal(asked('30', 503), 30_000);
    assert.deepEqual(judgeStatus(301, '30', now), { kind: 'permanent', reason: 'redirect', status: 301 });
  });

  test('that is neither is passed over', () => {
    for (const garbage of [
      undefined,
      '',
      'soon',
      '-5',
      '1.5',
      '0x10',
      '1e3',
      '10, 20',
      'x 2099',
      'Sat, never',
    ]) {
      assert.equal(asked(garbage), undefined, garbage);
    }
  });
});
