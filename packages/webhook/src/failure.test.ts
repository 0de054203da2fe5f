import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Answer } from './answer.ts';
import { judgeFailure } from './failure.ts';

function failure(code: string | undefined, message = 'it failed', options?: ErrorOptions): Error {
  return Object.assign(new Error(message, options), code === undefined ? {} : { code });
}

describe('the meaning of a failed exchange', () => {
  const meanings: Readonly<Record<string, readonly [Answer['kind'], string]>> = {
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
  for (const [code, [kind, reason]] of Object.entries(meanings)) {
    test(`with ${code} is ${kind}: ${reason}`, () => {
      assert.deepEqual(judgeFailure(failure(code)), { kind, reason, detail: 'it failed' });
    });
  }

  test('that nobody has named is one that may pass', () => {
    assert.equal(judgeFailure(failure(undefined)).kind, 'retryable');
    assert.equal(judgeFailure(failure('EVERYTHING_ELSE')).kind, 'retryable');
  });

  test('is found inside the error that wraps it', () => {
    const cause = failure('DEPTH_ZERO_SELF_SIGNED_CERT');
    assert.partialDeepStrictEqual(judgeFailure(failure(undefined, 'fetch failed', { cause })), {
      reason: 'self-signed-certificate',
    });
  });

  test('at several addresses is one that may pass if any of them is', () => {
    const errors = [failure('ADDRESS_NOT_ALLOWED'), failure('ECONNREFUSED')];
    assert.partialDeepStrictEqual(judgeFailure(new AggregateError(errors, 'both failed')), {
      kind: 'retryable',
      reason: 'connection-refused',
      detail: 'both failed',
    });
    assert.partialDeepStrictEqual(judgeFailure(new AggregateError(errors.slice(0, 1))), {
      kind: 'permanent',
      reason: 'address-not-allowed',
    });
  });

  test('is found whatever circle its causes go in', () => {
    const error = failure(undefined);
    error.cause = error;
    assert.partialDeepStrictEqual(judgeFailure(error), { reason: 'connection-failed' });
  });
});
