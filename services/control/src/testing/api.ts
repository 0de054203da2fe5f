/** The API of control on an in-memory Kafka cluster, wired as in open.ts, and a client that needs no connection. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isTailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { defineService, listen, type Environment } from '@tailrace/service';
import { startHere, type LogLine } from '@tailrace/service/testing';
import { topicNames, topicSpecs } from '@tailrace/topology';
import { openControl, type ControlChanges, type OpenControl } from '../open.ts';
import { settings } from '../settings.ts';

export const adminToken = 'test-admin-token-0123456789';
export const readToken = 'test-read-token-0123456789';
/** The key that encrypts the secrets of the configuration. */
export const secretKey = '0123456789abcdef'.repeat(4);
const prefix = 'test.';
export const names = topicNames(prefix);

export interface ApiRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
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

interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; an empty object if it is not JSON. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly etag: string;
}

export interface Api extends AsyncDisposable {
  readonly cluster: MemoryCluster;
  readonly kafka: Kafka;
  /** The lines of the log. */
  readonly log: readonly LogLine[];
  /** Resolves with the first line of the log for which `holds` is true. */
  logged(holds: (line: LogLine) => boolean): Promise<LogLine>;
  /** Resolves once the history has read all records that the topics hold. */
  historyRead(): Promise<void>;
  /** Resolves once the instance has looked `count` times for operational events to write. */
  turns(count: number): Promise<void>;
  /** The size of the stored history. */
  readonly historyBytes: number;
  ask(request: ApiRequest): Promise<ApiResponse>;
  /** Listens on a port of this machine, for browsers. Resolves with the address: `http://127.0.0.1:41234`. */
  listen(port?: number): Promise<string>;
  /** Asserts the status, and resolves with the parsed body. */
  expect(status: number, request: ApiRequest): Promise<Readonly<Record<string, unknown>>>;
  /** Asserts the status and the code of an error. */
  refused(request: ApiRequest, status: number, code: string): Promise<ApiResponse>;
}

/** A cluster with the topics of Tailrace, with two partitions. */
export function newCluster(): MemoryCluster {
  const cluster = new MemoryCluster();
  for (const spec of topicSpecs(names, { partitions: 2, retryScheduleMs: [1_000] })) {
    cluster.createTopic(spec.name, { partitions: spec.partitions, config: spec.config });
  }
  return cluster;
}

/** One instance of control. Several may share a cluster. */
export async function openApi(
  cluster: MemoryCluster = newCluster(),
  env: Environment = {},
  changes: ControlChanges = {},
): Promise<Api> {
  await using opened = new AsyncDisposableStack();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'tailrace-control-'));
  opened.defer(() => rm(dataDir, { recursive: true, force: true }));
  const turns = new EventEmitter();
  const lines: LogLine[] = [];
  const listeners = new Set<(line: LogLine) => void>();
  const parts = Promise.withResolvers<OpenControl>();
  const control = await startHere(
    defineService({
      name: 'control',
      settings,
      open: async (service) => {
        const onTurn = (): void => {
          turns.emit('turn');
        };
        const operations = { deadSpanMs: 100, everyMs: 10, onTurn };
        parts.resolve(await openControl(service, { operations, ...changes }));
        return {};
      },
    }),
    {
      KAFKA_BROKERS: 'memory:9092',
      TAILRACE_TOPIC_PREFIX: prefix,
      TAILRACE_API_TOKEN: adminToken,
      TAILRACE_API_READ_TOKEN: readToken,
      TAILRACE_SECRET_KEY: secretKey,
      TAILRACE_DATA_DIR: dataDir,
      // Tests send requests as fast as they can.
      TAILRACE_API_RATE_LIMIT: '100000',
      ...env,
    },
    {
      connect: (_config, log, observer) => cluster.connect(log, observer),
      onLine: (line) => {
        lines.push(line);
        for (const listener of listeners) listener(line);
      },
    },
  );
  opened.defer(() => control.stop());
  const { kafka, history, server } = await parts.promise;

  const ask = async (request: ApiRequest): Promise<ApiResponse> => {
    const { method = 'GET', path, body, bytes, headers = {}, token = adminToken } = request;
    const payload = bytes ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await server.inject({
      method,
      url: path,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { payload }),
    });
    const received = new Headers(
      Object.entries(response.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
    );
    const isJson = received.get('content-type')?.startsWith('application/json') ?? false;
    const text = response.body;
    const json = isJson && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : {};
    return { status: response.statusCode, headers: received, text, json, etag: received.get('etag') ?? '' };
  };
  const all = opened.move();
  return {
    cluster,
    kafka,
    log: lines,
    logged(holds) {
      const found = lines.find(holds);
      if (found) return Promise.resolve(found);
      return new Promise((resolve) => {
        const listener = (line: LogLine): void => {
          if (!holds(line)) return;
          listeners.delete(listener);
          resolve(line);
        };
        listeners.add(listener);
      });
    },
    ask,
    async turns(count) {
      for (let turn = 0; turn < count; turn += 1) await once(turns, 'turn');
    },
    listen: async (port = 0) =>
      `http://127.0.0.1:${await listen(server.server, { host: '127.0.0.1', port }, 'PORT')}`,
    get historyBytes() {
      return history.status.bytes;
    },
    async historyRead() {
      for (;;) {
        const isRead = await history.refresh().then(
          () => true,
          (error: unknown) => {
            if (isTailraceError(error, 'history-unavailable')) return false;
            throw error;
          },
        );
        if (isRead) return;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async expect(status, request) {
      const response = await ask(request);
      assert.equal(response.status, status, `${request.method ?? 'GET'} ${request.path}: ${response.text}`);
      return response.json;
    },
    async refused(request, status, code) {
      const response = await ask(request);
      assert.deepEqual([response.status, response.json['code']], [status, code], response.text);
      return response;
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
