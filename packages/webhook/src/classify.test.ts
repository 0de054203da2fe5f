import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import type { RequestRetryReason } from '@tailrace/metrics';
import { classifyError, classifyStatus, type Answer } from './classify.ts';

const now = Date.parse('2026-11-21T08:00:00Z');

describe('the classification of a status', () => {
  const range = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const retryable = new Map<number, RequestRetryReason>([
    [408, 'request-timeout'],
    [429, 'too-many-requests'],
    ...range(500, 599).map((status) => [status, 'server-error'] as const),
  ]);

  test('is success for every 2xx', () => {
    for (const status of range(200, 299)) {
      assert.deepEqual(classifyStatus(status, undefined, now), { kind: 'success', status });
    }
  });

  test('is retryable for 408, 429 and every 5xx', () => {
    for (const [status, reason] of retryable) {
      assert.deepEqual(classifyStatus(status, undefined, now), { kind: 'retryable', reason, status });
    }
  });

  test('is permanent for every 3xx and every other 4xx', () => {
    for (const status of range(300, 499)) {
      if (retryable.has(status)) continue;
      const reason = status < 400 ? 'redirect' : 'client-error';
      assert.deepEqual(classifyStatus(status, undefined, now), { kind: 'permanent', reason, status });
    }
  });

  test('is what the destination says for 4xx and 5xx', () => {
    const of = (status: number) => classifyStatus(status, '7', now, new Set([409, 429, 503]));
    const retryAfterMs = 7_000;
    assert.deepEqual(of(409), { kind: 'retryable', reason: 'client-error', status: 409, retryAfterMs });
    assert.deepEqual(of(503), { kind: 'retryable', reason: 'server-error', status: 503, retryAfterMs });
    assert.deepEqual(of(408), { kind: 'permanent', reason: 'client-error', status: 408 });
    assert.deepEqual(of(500), { kind: 'permanent', reason: 'server-error', status: 500 });
    assert.deepEqual(of(204), { kind: 'success', status: 204 });
    assert.deepEqual(of(302), { kind: 'permanent', reason: 'redirect', status: 302 });
  });

  test('is permanent for a status that HTTP does not define', () => {
    for (const status of [600, 700, 999]) {
      const reason = 'unexpected-status';
      assert.deepEqual(classifyStatus(status, undefined, now), { kind: 'permanent', reason, status });
    }
  });
});

describe('Retry-After', () => {
  const retryAfterOf = (value: string | undefined, status = 429): number | undefined => {
    const answer = classifyStatus(status, value, now);
    return answer.kind === 'retryable' ? answer.retryAfterMs : undefined;
  };

  test('may be seconds', () => {
    assert.equal(retryAfterOf('120'), 120_000);
    assert.equal(retryAfterOf(' 7 '), 7_000);
    assert.equal(retryAfterOf('0'), 0);
  });

  const dates = [
    'Sat, 21 Nov 2026 08:01:30 GMT',
    'Saturday, 21-Nov-26 08:01:30 GMT',
    'Sat Nov 21 08:01:30 2026',
  ];

  test('may be a date in each of the three forms of HTTP', () => {
    for (const date of dates) assert.equal(retryAfterOf(date), 90_000, date);
  });

  test('means the same in a process of another time zone', () => {
    const moduleUrl = new URL('classify.ts', import.meta.url).href;
    const code = `
      import { classifyStatus } from ${JSON.stringify(moduleUrl)};
      const classify = (date) => classifyStatus(429, date, ${now}).retryAfterMs;
      console.log(new Date(${now}).getTimezoneOffset(), ...${JSON.stringify(dates)}.map(classify));`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
      env: { TZ: 'America/New_York' },
      encoding: 'utf8',
    });
    assert.equal(printed.trim(), '300 90000 90000 90000');
  });

  test('in the past means no delay', () => {
    assert.equal(retryAfterOf('Fri, 20 Nov 2026 08:00:00 GMT'), 0);
  });

  test('counts with 408 and 503 too, and is ignored for a permanent failure', () => {
    assert.equal(retryAfterOf('30', 408), 30_000);
    assert.equal(retryAfterOf('30', 503), 30_000);
    assert.deepEqual(classifyStatus(301, '30', now), { kind: 'permanent', reason: 'redirect', status: 301 });
  });

  test('that is neither seconds nor a date is ignored', () => {
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
      assert.equal(retryAfterOf(garbage), undefined, garbage);
    }
  });
});

function failure(code: string | undefined, message = 'it failed', options?: ErrorOptions): Error {
  return Object.assign(new Error(message, options), code === undefined ? {} : { code });
}

describe('the classification of an error', () => {
  const classifications: Readonly<Record<string, readonly [Answer['kind'], string]>> = {
    ECONNREFUSED: ['retryable', 'connection-refused'],
    ECONNRESET: ['retryable', 'connection-reset'],
    EPIPE: ['retryable', 'connection-reset'],
    UND_ERR_SOCKET: ['retryable', 'connection-reset'],
    ENOTFOUND: ['retryable', 'dns-failure'],
    EAI_AGAIN: ['retryable', 'dns-failure'],
    EHOSTUNREACH: ['retryable', 'unreachable'],
    ENETUNREACH: ['retryable', 'unreachable'],
    ETIMEDOUT: ['retryable', 'timeout'],
    UND_ERR_CONNECT_TIMEOUT: ['retryable', 'timeout'],
    CERT_HAS_EXPIRED: ['retryable', 'certificate-expired'],
    DEPTH_ZERO_SELF_SIGNED_CERT: ['permanent', 'self-signed-certificate'],
    SELF_SIGNED_CERT_IN_CHAIN: ['permanent', 'untrusted-certificate'],
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['permanent', 'untrusted-certificate'],
    ERR_TLS_CERT_ALTNAME_INVALID: ['permanent', 'misnamed-certificate'],
    ADDRESS_NOT_ALLOWED: ['permanent', 'address-not-allowed'],
    HPE_INVALID_CONSTANT: ['retryable', 'connection-failed'],
  };
  for (const [code, [kind, reason]] of Object.entries(classifications)) {
    test(`with code ${code} is ${kind}: ${reason}`, () => {
      assert.deepEqual(classifyError(failure(code)), { kind, reason, detail: 'it failed' });
    });
  }

  test('with an unknown code, or none, is retryable', () => {
    assert.equal(classifyError(failure(undefined)).kind, 'retryable');
    assert.equal(classifyError(failure('EVERYTHING_ELSE')).kind, 'retryable');
  });

  test('uses the code of the cause', () => {
    const cause = failure('DEPTH_ZERO_SELF_SIGNED_CERT');
    assert.partialDeepStrictEqual(classifyError(failure(undefined, 'fetch failed', { cause })), {
      reason: 'self-signed-certificate',
    });
  });

  test('of several addresses is retryable if that of one address is', () => {
    const errors = [failure('ADDRESS_NOT_ALLOWED'), failure('ECONNREFUSED')];
    assert.partialDeepStrictEqual(classifyError(new AggregateError(errors, 'both failed')), {
      kind: 'retryable',
      reason: 'connection-refused',
      detail: 'both failed',
    });
    assert.partialDeepStrictEqual(classifyError(new AggregateError(errors.slice(0, 1))), {
      kind: 'permanent',
      reason: 'address-not-allowed',
    });
  });

  test('ends where the causes form a circle', () => {
    const error = failure(undefined);
    error.cause = error;
    assert.partialDeepStrictEqual(classifyError(error), { reason: 'connection-failed' });
  });
});
