/** What a failed exchange means. */
import type { Answer, PermanentReason, RetryReason } from './answer.ts';

const maxDetailLength = 300;

const retryReasons: Readonly<Record<string, RetryReason>> = {
  ECONNREFUSED: 'connection-refused',
  ECONNRESET: 'connection-reset',
  EPIPE: 'connection-reset',
  UND_ERR_SOCKET: 'connection-reset',
  ENOTFOUND: 'dns-failure',
  EAI_AGAIN: 'dns-failure',
  EAI_FAIL: 'dns-failure',
  EAI_NODATA: 'dns-failure',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  CERT_HAS_EXPIRED: 'certificate-expired',
  CERT_NOT_YET_VALID: 'certificate-expired',
};

/** OpenSSL's verdicts on a certificate, as Node names them. */
const permanentReasons: Readonly<Record<string, PermanentReason>> = {
  ADDRESS_NOT_ALLOWED: 'address-not-allowed',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed-certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted-certificate',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted-certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted-certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted-certificate',
  CERT_UNTRUSTED: 'untrusted-certificate',
  CERT_REVOKED: 'untrusted-certificate',
  CERT_REJECTED: 'untrusted-certificate',
  CERT_SIGNATURE_FAILURE: 'untrusted-certificate',
  INVALID_CA: 'untrusted-certificate',
  INVALID_PURPOSE: 'untrusted-certificate',
  PATH_LENGTH_EXCEEDED: 'untrusted-certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'misnamed-certificate',
  HOSTNAME_MISMATCH: 'misnamed-certificate',
};

/** A failure that nobody has named is taken for one that may pass. */
export function judgeFailure(error: Error): Answer {
  const codes = [...codesOf(error)];
  // Some messages quote the receiver, such as all the names in its certificate.
  const detail = (error.message || codes.join(', ')).slice(0, maxDetailLength);
  // A host with several addresses fails with several errors; one that may pass outweighs one that will not.
  for (const code of codes) {
    const reason = retryReasons[code];
    if (reason) return { kind: 'retryable', reason, detail };
  }
  for (const code of codes) {
    const reason = permanentReasons[code];
    if (reason) return { kind: 'permanent', reason, detail };
  }
  return { kind: 'retryable', reason: 'connection-failed', detail };
}

function* codesOf(error: unknown, depth = 0): Generator<string> {
  if (!(error instanceof Error) || depth > 5) return;
  const { code, cause, errors } = error as Error & { code?: unknown; errors?: unknown };
  if (Array.isArray(errors)) for (const inner of errors) yield* codesOf(inner, depth + 1);
  yield* codesOf(cause, depth + 1);
  if (typeof code === 'string') yield code;
}

/** Whether the connection ended, or was found to have ended, without a word about why. */
export function isConnectionLost(error: Error): boolean {
  return [...codesOf(error)].some((code) => retryReasons[code] === 'connection-reset');
}
