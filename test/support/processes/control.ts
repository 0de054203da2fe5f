/** Control, in the process of the test or as a process, and a client for tests. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { MemoryCluster } from '@tailrace/kafka/testing';
import { probesUrlOf, urlOf, type HereOptions, type ServiceHere } from '@tailrace/service/testing';
import { startRoundRobin } from './round-robin.ts';
import { startServiceHere } from './here.ts';
import { startService, type Environment, type ServiceProcess } from './process.ts';

export const adminToken = 'test-admin-token-0123456789';
export const readToken = 'test-read-token-0123456789';
/** The key that seals the secrets of the test's configuration. */
export const secretKey = '0123456789abcdef'.repeat(4);

export interface Asked {
  readonly method?: string;
  /** With its query: `/v1/sources?limit=2`. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged instead of `body`. */
  readonly bytes?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the admin token. Null sends none. */
  readonly token?: string | null;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; an empty object if it is not JSON. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly etag: string;
}

export interface ControlApi extends AsyncDisposable {
  readonly url: string;
  readonly probesUrl: string;
  /** One request and its answer. */
  ask(asked: Asked): Promise<Answered>;
  /** The same with an expected status; resolves with the parsed body. */
  expect(status: number, asked: Asked): Promise<Readonly<Record<string, unknown>>>;
}

export interface Control extends ControlApi {
  readonly process: ServiceProcess;
}

export interface ControlHere extends ControlApi {
  readonly service: ServiceHere;
}

/** One control service as a process; several may run on the same prefix, whose topics must exist. */
export function startControl(
  brokers: readonly string[],
  prefix: string,
  env: Environment = {},
): Promise<Control> {
  const where = { KAFKA_BROKERS: brokers.join(','), TAILRACE_TOPIC_PREFIX: prefix };
  return open({ ...where, ...env }, async (all) => {
    const process = await startService('control', all);
    return { service: process, process };
  });
}

/** One control service in the process of the test, on an in-memory cluster or on real Kafka. */
export function startControlHere(
  kafka: MemoryCluster | readonly string[],
  prefix: string,
  env: Environment = {},
  options: Pick<HereOptions, 'processMetrics'> = {},
): Promise<ControlHere> {
  const isReal = Array.isArray(kafka);
  const where = { TAILRACE_TOPIC_PREFIX: prefix, ...(isReal && { KAFKA_BROKERS: kafka.join(',') }) };
  const cluster = isReal ? undefined : (kafka as MemoryCluster);
  return open({ ...where, ...env }, async (all) => ({
    service: await startServiceHere('control', all, { ...options, cluster }),
  }));
}

async function open<Parts extends { readonly service: ServiceHere }>(
  env: Environment,
  start: (env: Environment) => Promise<Parts>,
): Promise<Parts & ControlApi> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'tailrace-control-'));
  const parts = await start({
    TAILRACE_CONTROL_PORT: '0',
    TAILRACE_METRICS_PORT: '0',
    TAILRACE_API_TOKEN: adminToken,
    TAILRACE_API_READ_TOKEN: readToken,
    // Tests send requests as fast as they can.
    TAILRACE_API_RATE_LIMIT: '100000',
    TAILRACE_SECRET_KEY: secretKey,
    TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8,::1/128',
    TAILRACE_DATA_DIR: dataDir,
    ...env,
  });
  const { service } = parts;
  return {
    ...parts,
    // After a restart, a process listens on other ports.
    get url() {
      return urlOf(service);
    },
    get probesUrl() {
      return probesUrlOf(service);
    },
    ...clientOf(() => urlOf(service)),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export interface ControlPair extends AsyncDisposable {
  /** Each request is answered by the other instance. */
  readonly url: string;
  readonly instances: readonly [ControlHere, ControlHere];
  ask(asked: Asked): Promise<Answered>;
  expect(status: number, asked: Asked): Promise<Readonly<Record<string, unknown>>>;
}

/** Two instances of control behind one URL, as behind the Service of a cluster. */
export async function startControlPair(
  kafka: MemoryCluster | readonly string[],
  prefix: string,
  env: Environment = {},
): Promise<ControlPair> {
  await using started = new AsyncDisposableStack();
  const first = started.use(await startControlHere(kafka, prefix, env));
  const second = started.use(await startControlHere(kafka, prefix, env));
  const { url } = started.use(await startRoundRobin([first.url, second.url]));
  const all = started.move();
  return {
    url,
    instances: [first, second],
    ...clientOf(() => url),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

function clientOf(url: () => string): Pick<ControlApi, 'ask' | 'expect'> {
  const ask = (asked: Asked): Promise<Answered> => askAt(url(), asked);
  return {
    ask,
    async expect(status, asked) {
      const answer = await ask(asked);
      assert.equal(answer.status, status, `${asked.method ?? 'GET'} ${asked.path}: ${answer.text}`);
      return answer.json;
    },
  };
}

export async function askAt(
  url: string,
  { method = 'GET', path, body, bytes, headers = {}, token = adminToken }: Asked,
): Promise<Answered> {
  const content = bytes ?? (body === undefined ? null : JSON.stringify(body));
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(content !== null && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: content as string | null,
  });
  const type = response.headers.get('content-type') ?? '';
  // A stream has no end to wait for.
  const isStream = type.startsWith('application/x-ndjson') || type.startsWith('text/event-stream');
  if (isStream) await response.body?.cancel();
  const text = isStream ? '' : await response.text();
  const isJson = type.startsWith('application/json');
  const json = isJson && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : {};
  return {
    status: response.status,
    headers: response.headers,
    text,
    json,
    etag: response.headers.get('etag') ?? '',
  };
}
