/**
 * Every change of the configuration passes two steps before it is written: the limits of the caller's token are checked, and
 * the entry of the audit log is added, in the same Kafka transaction. So there is no change without its entry.
 */
import {
  defaultRateLimitBytes,
  differencesOf,
  type BeforeWrite,
  type ConfigSnapshot,
  type Destination,
  type Entry,
  type FieldDifference,
  type Notification,
  type Source,
} from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { parseDuration } from '@tailrace/events';
import { encodeAudit, newAudit, type AuditActor } from '@tailrace/records';
import type { FastifyRequest } from 'fastify';
import { isLimited, reachesDestination, reachesSource } from '../access/limits.ts';
import type { Caller } from '../access/authenticate.ts';
import { currentRequest } from './context.ts';

/** @param topic the topic `audit` */
export function auditChanges(topic: string): BeforeWrite {
  return (write, current) => {
    const request = currentRequest();
    if (request) checkLimits(request.caller, write, current);
    const before = current[write.kind](write.id);
    const target = `${write.kind}/${write.id}`;
    const verb = write.entry === null ? 'delete' : before === undefined ? 'create' : 'update';
    const record = newAudit({
      action: request?.audited?.action ?? `${write.kind}.${verb}`,
      target,
      outcome: 'done',
      actor: actorOf(request),
      address: request?.clientAddress,
      changes: differencesOf(before, write.entry),
    });
    if (request) request.isAudited = true;
    return [encodeAudit(topic, record)];
  };
}

export function actorOf(request: FastifyRequest | undefined): AuditActor {
  if (!request) return { kind: 'service', name: 'control' };
  const { caller, tokenFingerprint: fingerprint } = request;
  if (!caller) return { kind: 'unknown', name: 'unknown', fingerprint };
  const { name, tokenId } = caller;
  return { kind: tokenId === undefined ? 'setting' : 'token', name, tokenId, fingerprint };
}

/**
 * A limited token changes nothing beyond its limits, through any route. It cannot connect a source that it does not reach, which
 * would send that source's events to its destination, nor disconnect one. Of a destination that has such a source too, everything
 * else but the name decides what becomes of that source's events. A rate limit and `disableAfter` protect others from its entries,
 * so they may only be lowered, and `proxy: none` leaves a way that the operator has chosen. Messages name only what the request or the token's own entry names.
 *
 * @throws TailraceError `forbidden`
 */
function checkLimits(caller: Caller | undefined, write: Entry, current: ConfigSnapshot): void {
  if (!isLimited(caller)) return;
  const { kind, id } = write;
  const reaches = kind === 'source' ? reachesSource(caller, id) : reachesDestination(caller, id);
  if (kind === 'token' || kind === 'notification' || !reaches) {
    throw new TailraceError('forbidden', `The request would change a ${kind} that the token does not reach.`);
  }
  if (write.kind === 'destination') requireOwnSources(caller, current.destination(id), write.entry);
  if (write.entry === null) return;
  const wanted = ratesOf(write.entry);
  const allowed = ratesOf(current[kind](id));
  // A first limit takes the place of the one that the source has in ingest while others send, which may be lower.
  const isFirst = kind === 'source' && allowed.rateLimit === Infinity && wanted.rateLimit < Infinity;
  const isMore = (Object.keys(wanted) as (keyof Rates)[]).some((rate) => wanted[rate] > allowed[rate]);
  if (isFirst || isMore) {
    throw new TailraceError(
      'forbidden',
      'A limited token may lower rateLimit, burst, maxInFlight and disableAfter. It may not raise or remove them, set proxy, or give a source without a rateLimit one.',
    );
  }
}

/** @throws TailraceError `forbidden` */
function requireOwnSources(
  caller: Caller | undefined,
  stored: Destination | undefined,
  wanted: Destination | null,
): void {
  const before = new Set(stored?.sources);
  const after = new Set(wanted?.sources);
  const isForeign = (source: string): boolean => !reachesSource(caller, source);
  const changed =
    wanted && [...before, ...after].filter((source) => before.has(source) !== after.has(source));
  const foreign = changed?.find(isForeign);
  if (foreign !== undefined) {
    const verb = before.has(foreign) ? 'disconnect' : 'connect';
    throw new TailraceError(
      'forbidden',
      `The request would ${verb} the source ${JSON.stringify(foreign)}, which the token does not reach.`,
    );
  }
  // A token that is limited to destinations alone has the deliveries of all their sources.
  if (caller?.sources === undefined || ![...before].some(isForeign)) return;
  const isOfOthers = ({ field }: FieldDifference): boolean => !/^(name$|sources\b)/.test(field);
  if (wanted && !differencesOf(stored, wanted).some(isOfOthers)) return;
  throw new TailraceError(
    'forbidden',
    'The destination also receives events from sources that the token does not reach, so the token may only rename it, and connect or disconnect its own sources.',
  );
}

interface Rates {
  readonly rateLimit: number;
  readonly bytes: number;
  readonly burst: number;
  readonly maxInFlight: number;
  readonly disableAfterMs: number;
  /** 1 without the egress proxy. */
  readonly direct: number;
}

/** An entry without a limit has the highest; bytes and bursts have a default. */
function ratesOf(entry: Source | Destination | Notification | undefined): Rates {
  const given: Partial<Source & Destination> = entry ?? {};
  const { rateLimit = Infinity, rateLimitBytes = defaultRateLimitBytes, maxInFlight = Infinity } = given;
  const disableAfterMs = parseDuration(given.disableAfter ?? '') ?? Infinity;
  const burst = given.burst ?? defaultBurst(rateLimit);
  const direct = given.proxy === 'none' ? 1 : 0;
  return { rateLimit, bytes: rateLimitBytes, burst, maxInFlight, disableAfterMs, direct };
}

/** That of delivery: a tenth of a second. */
const defaultBurst = (rateLimit: number): number => Math.max(1, rateLimit / 10);
