/**
 * Records requests in the topic `audit` that do not change the configuration: other changes, reads of bodies, and refused requests. These
 * are written after the answer; if Kafka does not take one, the log has the whole record.
 *
 * The rate of refused requests is bounded, so that a flood of wrong tokens neither fills the topic nor pushes out what
 * matters. The next record that is written says how many were left out.
 */
import { Readable } from 'node:stream';
import type { Kafka } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import { encodeAudit, newAudit } from '@tailrace/records';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../access/authenticate.ts';
import { ownerOf } from '../access/places.ts';
import { readCookie } from '../session/cookie.ts';
import { actorOf } from './changes.ts';
import { withinRequest } from './context.ts';

const giveUpAfterMs = 30_000;
const maxBufferedBytes = 4 * 2 ** 20;
/** At first this many, then one in each interval: 8,640 records a day of about 400 bytes of a token, and of clients without one. */
const refused = { burst: 50, intervalMs: 10_000 };
/** More than there are tokens. */
const maxBounds = 2_000;

/**
 * Records the requests of the server, and lets changes find the request that they belong to.
 *
 * @param topic the topic `audit`
 */
export function auditRequests(
  app: FastifyInstance,
  kafka: Pick<Kafka, 'publisher'>,
  topic: string,
  log: Pick<Log, 'info' | 'error'>,
): void {
  const publisher = kafka.publisher({ giveUpAfterMs, maxBufferedBytes });
  /** By token, so that none hides the refused requests of others. */
  const bounds = new Map<string, ReturnType<typeof createBound>>();
  const boundOf = (caller: Caller | undefined) => {
    const { token } = ownerOf(caller);
    const bound = bounds.get(token) ?? createBound(refused);
    bounds.delete(token);
    bounds.set(token, bound);
    if (bounds.size > maxBounds) bounds.delete(bounds.keys().next().value ?? '');
    return bound;
  };
  const record = (request: FastifyRequest, reply: FastifyReply): void => {
    const { method, audited, errorCode, caller } = request;
    const isRead = method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
    const outcome = reply.statusCode < 400 ? 'done' : 'refused';
    // Of reads, only those are of interest that showed a body, or that the caller was not permitted.
    if (isRead && !audited && reply.statusCode !== 401 && reply.statusCode !== 403) return;
    if (isRead && asksForSession(request)) return;
    const bound = outcome === 'done' ? undefined : boundOf(caller);
    const notRecorded = bound?.take();
    if (bound && notRecorded === undefined) return;
    const { action, target } = audited ?? {
      action: `${method} ${request.routeOptions.url ?? 'unknown path'}`,
      target: undefined,
    };
    const { tokenFingerprint, clientAddress: address } = request;
    log.info(
      {
        audit: action,
        target,
        actor: caller?.scope,
        token: caller?.name,
        tokenFingerprint,
        address,
        outcome,
        status: reply.statusCode,
        code: errorCode,
        ...(notRecorded && { notRecorded }),
      },
      'audit',
    );
    if (outcome === 'done' && request.isAudited) return;
    const entry = newAudit({
      action,
      target,
      outcome,
      address,
      actor: actorOf(request),
      changes: [],
      ...(outcome === 'refused' && { code: errorCode }),
      ...(notRecorded && { notRecorded }),
    });
    publisher
      .publish(encodeAudit(topic, entry))
      .catch((error: unknown) => log.error({ err: error, record: entry }, 'audit record not written'));
  };
  app.addHook('preHandler', (request, _reply, next) => withinRequest(request, next));
  /** Those whose answer is a stream, which are recorded when it begins: its client may leave, and then it has no response. */
  const streamed = new WeakSet<FastifyRequest>();
  app.addHook('onSend', (request, reply, payload, done) => {
    if (payload instanceof Readable) {
      streamed.add(request);
      record(request, reply);
    }
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    if (!streamed.has(request)) record(request, reply);
    done();
  });
}

/** What a sign-in page asks when it opens: a request without a token or cookie, which tries nothing. */
function asksForSession(request: FastifyRequest): boolean {
  const hasNothing = request.headers.authorization === undefined && readCookie(request) === undefined;
  return hasNothing && request.routeOptions.url === '/v1/session';
}

/** Permits a burst, then one in each interval. */
export function createBound(
  { burst, intervalMs }: { readonly burst: number; readonly intervalMs: number },
  since = performance.now(),
) {
  let left = burst;
  let refused = 0;
  return {
    /** The number of refusals since the last permission; undefined for a refusal. */
    take(now = performance.now()): number | undefined {
      const earned = Math.floor((now - since) / intervalMs);
      if (earned > 0) {
        left = Math.min(burst, left + earned);
        since += earned * intervalMs;
      }
      if (left === 0) {
        refused += 1;
        return undefined;
      }
      left -= 1;
      const before = refused;
      refused = 0;
      return before;
    },
  };
}
