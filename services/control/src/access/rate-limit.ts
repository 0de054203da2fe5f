/**
 * The rate limit of each token, for each instance: a bucket that holds the requests of ten seconds. The headers are those of
 * draft-ietf-httpapi-ratelimit-headers: `RateLimit-Policy` and `RateLimit`.
 */
import { TailraceError } from '@tailrace/errors';
import type { FastifyReply } from 'fastify';
import type { Caller } from './authenticate.ts';

const windowS = 10;
/** More than there are tokens; a full bucket is forgotten first, since it is as good as a new one. */
const maxBuckets = 2_000;

interface Bucket {
  left: number;
  at: number;
}

/**
 * @param perSecond requests of one token
 * @returns a function that counts a request and sets the headers of its answer
 * @throws TailraceError (the function) `too-many-requests`
 */
export function createRateLimit(
  perSecond: number,
): (
  caller: Pick<Caller, 'tokenId' | 'fingerprint'>,
  reply: Pick<FastifyReply, 'header'>,
  now?: number,
) => void {
  const quota = perSecond * windowS;
  const buckets = new Map<string, Bucket>();
  return ({ tokenId, fingerprint }, reply, now = performance.now()) => {
    const key = tokenId ?? fingerprint;
    const bucket = buckets.get(key) ?? { left: quota, at: now };
    bucket.left = Math.min(quota, bucket.left + ((now - bucket.at) / 1_000) * perSecond);
    bucket.at = now;
    // The key that was used last is at the end of the map, so the first is the one to forget.
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > maxBuckets) buckets.delete(buckets.keys().next().value ?? '');

    const isPermitted = bucket.left >= 1;
    if (isPermitted) bucket.left -= 1;
    const remaining = Math.floor(bucket.left);
    const resetS = Math.ceil((quota - bucket.left) / perSecond);
    reply.header('ratelimit-policy', `"token";q=${quota};w=${windowS}`);
    reply.header('ratelimit', `"token";r=${remaining};t=${resetS}`);
    if (isPermitted) return;
    throw new TailraceError('too-many-requests', undefined, {
      retryAfterS: Math.max(1, Math.ceil((1 - bucket.left) / perSecond)),
    });
  };
}
