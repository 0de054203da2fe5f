/** Looks at replicas: `/readyz` and `/metrics` of each, many at the same time, with limits on time and memory. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Readiness } from '@tailrace/service';
import { inParallel } from '../../in-parallel.ts';
import { readMetrics, type ReplicaMetrics } from './metrics-text.ts';
import type { Replica } from './targets.ts';

export interface ReplicaReport {
  readonly service: string;
  readonly url: string;
  /** `silent`: it did not respond, or not in time. */
  readonly state: 'ready' | 'not-ready' | 'silent';
  /** Why it is not ready or silent. */
  readonly reason?: string;
  /** How far its clock is ahead of this machine; undefined where it does not tell the time. */
  readonly aheadMs?: number;
  /** Undefined if `/metrics` could not be read. */
  readonly metrics?: ReplicaMetrics;
}

/** A probe of Kubernetes waits a second; a replica that needs more than this is in trouble. */
export const responseTimeoutMs = 5_000;
/** All replicas of a large installation take a few rounds, also if all of them hang. */
const atTheSameTime = 50;
const mostBytes = 4 * 2 ** 20;

const refused = 'nothing listens on this port';
const againAfterMs = 500;

/** In the order of `replicas`. */
export function lookAtAll(
  replicas: readonly Replica[],
  timeoutMs = responseTimeoutMs,
  ask = request,
): Promise<ReplicaReport[]> {
  return inParallel(atTheSameTime, replicas, (replica) => lookAt(replica, timeoutMs, ask));
}

export function isRefused({ state, reason }: ReplicaReport): boolean {
  return state === 'silent' && reason === refused;
}

async function lookAt(
  { service, url }: Replica,
  timeoutMs: number,
  ask: typeof request,
): Promise<ReplicaReport> {
  const [ready, metrics] = await Promise.all([
    ask(`${url}/readyz`, timeoutMs),
    ask(`${url}/metrics`, timeoutMs),
  ]);
  if (typeof ready === 'string') return { service, url, state: 'silent', reason: ready };
  const read = typeof metrics !== 'string' && metrics.status === 200 ? readMetrics(metrics.body) : undefined;
  // A release before the metric has the header, which is less exact.
  const aheadMs =
    typeof metrics !== 'string' && read?.clockSeconds !== undefined
      ? Math.round(read.clockSeconds * 1_000 - metrics.answeredAt)
      : ready.aheadMs;
  return {
    service,
    url,
    ...(ready.status === 200
      ? { state: 'ready' as const }
      : { state: 'not-ready' as const, reason: whyNotReady(ready) }),
    ...(aheadMs !== undefined && { aheadMs }),
    ...(read && { metrics: read }),
  };
}

function whyNotReady({ status, body }: Response): string {
  try {
    const { reason, checks } = JSON.parse(body) as Pick<Readiness, 'reason' | 'checks'>;
    const failing = checks.filter(({ ok }) => !ok).map(({ name, reason = '' }) => `${name}: ${reason}`);
    const found = reason === undefined ? failing : [reason, ...failing];
    if (found.length > 0) return found.join('; ');
  } catch {
    // Not the response of a probe.
  }
  return `status ${status}`;
}

export interface Response {
  readonly status: number;
  readonly body: string;
  /** When it was answered, by the clock of this machine. */
  readonly answeredAt: number;
  /** How far the Date header is ahead of that. */
  readonly aheadMs: number | undefined;
}

/** Resolves with the reason as text if there is no response. A body is read up to a limit. */
export async function request(
  url: string,
  timeoutMs = responseTimeoutMs,
  init: RequestInit = {},
): Promise<Response | string> {
  const sentAt = Date.now();
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { redirect: 'manual', signal, ...init });
    const answeredAt = (sentAt + Date.now()) / 2;
    const date = Date.parse(response.headers.get('date') ?? '');
    // The header has whole seconds; add half a second on average.
    const aheadMs = date + 500 - answeredAt;
    return {
      status: response.status,
      body: await readLimited(response.body ?? []),
      answeredAt,
      aheadMs: Number.isNaN(aheadMs) ? undefined : Math.round(aheadMs),
    };
  } catch (error) {
    if (error instanceof DOMException) return `no response within ${timeoutMs / 1_000} s`;
    const { cause = error } = error as Error;
    const { code, message } = cause as NodeJS.ErrnoException;
    return code === 'ECONNREFUSED' ? refused : (code ?? message);
  }
}

/** As `request`, but asks again where it is refused: network policies may let a new pod in seconds after it has started. */
export async function requestPatiently(url: string): Promise<Response | string> {
  const until = performance.now() + responseTimeoutMs;
  let response = await request(url);
  while (response === refused && performance.now() < until) {
    await wait(againAfterMs);
    response = await request(url);
  }
  return response;
}

/** A body as text, cut at the limit. */
export async function readLimited(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop ends the response.
    if (bytes > mostBytes) break;
  }
  return Buffer.concat(chunks).toString();
}
