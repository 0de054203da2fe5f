/** Control as a process, on its own topics, and a client for tests. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TopicNames } from '@tailrace/topics';
import { sharedBroker } from '../kafka/broker.ts';
import { openKafka, type TestKafka } from '../kafka/kafka-client.ts';
import { startRoundRobin } from './round-robin.ts';
import { startService, type Environment, type ServiceProcess } from './process.ts';
import { createTopics, uniquePrefix } from '../kafka/topics.ts';

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

export interface Control extends AsyncDisposable {
  readonly url: string;
  readonly probesUrl: string;
  readonly process: ServiceProcess;
  /** One request and its answer. */
  ask(asked: Asked): Promise<Answered>;
  /** The same with an expected status; resolves with the parsed body. */
  expect(status: number, asked: Asked): Promise<Readonly<Record<string, unknown>>>;
}

/** One control service; several may run on the same prefix, whose topics must exist. */
export async function startControl(
  brokers: readonly string[],
  prefix: string,
  env: Environment = {},
): Promise<Control> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'tailrace-control-'));
  const process = await startService('control', {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
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
  const line = async (msg: string): Promise<Record<string, unknown>> =>
    process.log.find((line) => line.msg === msg);
  const url = `http://127.0.0.1:${String((await line('ready'))['port'])}`;
  return {
    url,
    probesUrl: `http://127.0.0.1:${String((await line('starting'))['metricsPort'])}`,
    process,
    ...clientOf(url),
    async [Symbol.asyncDispose]() {
      await process[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export interface ControlPair extends AsyncDisposable {
  /** Each request is answered by the other instance. */
  readonly url: string;
  readonly instances: readonly [Control, Control];
  ask(asked: Asked): Promise<Answered>;
  expect(status: number, asked: Asked): Promise<Readonly<Record<string, unknown>>>;
}

/** Two instances of control behind one URL, as behind the Service of a cluster. */
export async function startControlPair(
  brokers: readonly string[],
  prefix: string,
  env: Environment = {},
): Promise<ControlPair> {
  await using started = new AsyncDisposableStack();
  const instances = await Promise.all([
    startControl(brokers, prefix, env),
    startControl(brokers, prefix, env),
  ]);
  for (const instance of instances) started.use(instance);
  const { url } = started.use(await startRoundRobin(instances.map((instance) => instance.url)));
  const all = started.move();
  return { url, instances, ...clientOf(url), [Symbol.asyncDispose]: () => all.disposeAsync() };
}

function clientOf(url: string): Pick<Control, 'ask' | 'expect'> {
  const ask = (asked: Asked): Promise<Answered> => askAt(url, asked);
  return {
    ask,
    async expect(status, asked) {
      const answer = await ask(asked);
      assert.equal(answer.status, status, `${asked.method ?? 'GET'} ${asked.path}: ${answer.text}`);
      return answer.json;
    },
  };
}

export interface ControlPlane extends Control {
  readonly kafka: TestKafka;
  readonly names: TopicNames;
  readonly prefix: string;
  readonly brokers: readonly string[];
}

/** One control service with its own topic prefix, on the shared broker. */
export async function startControlPlane(env: Environment = {}): Promise<ControlPlane> {
  await using started = new AsyncDisposableStack();
  const { brokers } = await sharedBroker();
  const kafka = started.use(openKafka(brokers));
  const prefix = uniquePrefix();
  const names = await createTopics(kafka, prefix, { partitions: 2, retryScheduleMs: [1_000] });
  const control = started.use(
    await startControl(brokers, prefix, {
      TAILRACE_PARTITIONS: '2',
      TAILRACE_RETRY_SCHEDULE: '1s',
      ...env,
    }),
  );
  const all = started.move();
  return { ...control, kafka, names, prefix, brokers, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

async function askAt(
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
