/** The API of control on an in-memory Kafka cluster, wired as in main.ts, and a client that needs no connection. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openConfigEditor } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { createLogTo, createMetrics, readSettings, type Environment } from '@tailrace/service';
import { topicNames, topicSpecs } from '@tailrace/topics';
import { auditChanges } from '../audit/changes.ts';
import { currentRequest } from '../audit/context.ts';
import { openAudiences } from '../audiences/index.ts';
import { openDeletions } from '../deletions/index.ts';
import { openHistory } from '../history/index.ts';
import { closeApi, createServer } from '../http/server.ts';
import { openOperations } from '../operations/index.ts';
import { openIdempotency } from '../idempotency/index.ts';
import { openRecalls } from '../replays/recalls.ts';
import { openReplays } from '../replays/replays.ts';
import { createSessionSeal } from '../session/seal.ts';
import { settings as schema } from '../settings.ts';
import { createSuppressions } from '../suppressions/index.ts';
import { openSuppressionStore } from '../suppressions/store.ts';

export const adminToken = 'test-admin-token-0123456789';
export const readToken = 'test-read-token-0123456789';
/** The key that encrypts the secrets of the configuration. */
export const secretKey = '0123456789abcdef'.repeat(4);
export const names = topicNames('');

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

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; an empty object if it is not JSON. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly etag: string;
}

export type LogLine = Readonly<Record<string, unknown>>;

export interface Api extends AsyncDisposable {
  readonly cluster: MemoryCluster;
  readonly kafka: Kafka;
  /** The lines of the log. */
  readonly log: readonly LogLine[];
  /** Resolves with the first line of the log for which `holds` is true. */
  logged(holds: (line: LogLine) => boolean): Promise<LogLine>;
  /** Resolves once the history has read all records that the topics hold. */
  historyRead(): Promise<void>;
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

export interface ApiOptions {
  readonly maxSuppressions?: number;
  /** Replaces the topics that the history reads. */
  readonly historyKafka?: (kafka: Kafka) => Kafka;
  /** Replaces what the configuration is changed with. */
  readonly configKafka?: (kafka: Kafka) => Kafka;
  /** How long a change of the configuration is tried. */
  readonly changeGivesUpAfterMs?: number;
}

/** One instance of control. Several may share a cluster. */
export async function openApi(
  cluster: MemoryCluster = newCluster(),
  env: Environment = {},
  {
    maxSuppressions,
    historyKafka = (kafka) => kafka,
    configKafka = (kafka) => kafka,
    changeGivesUpAfterMs,
  }: ApiOptions = {},
): Promise<Api> {
  await using opened = new AsyncDisposableStack();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'tailrace-control-'));
  opened.defer(() => rm(dataDir, { recursive: true, force: true }));
  const settings = readSettings(
    {
      ...{ KAFKA_BROKERS: 'memory:9092', TAILRACE_TOPIC_PREFIX: '' },
      ...{ TAILRACE_API_TOKEN: adminToken, TAILRACE_API_READ_TOKEN: readToken },
      ...{ TAILRACE_SECRET_KEY: secretKey, TAILRACE_DATA_DIR: dataDir },
      // Tests send requests as fast as they can.
      TAILRACE_API_RATE_LIMIT: '100000',
      ...env,
    },
    schema,
  );
  const lines: LogLine[] = [];
  const listeners = new Set<(line: LogLine) => void>();
  const write = (text: string): void => {
    const line = JSON.parse(text) as LogLine;
    lines.push(line);
    for (const listener of listeners) listener(line);
  };
  const log = createLogTo({ write }, 'control', 'info');
  const metrics = createMetrics({ processMetrics: false });
  const stopping = new AbortController();

  const kafka = opened.use(cluster.connect(log));
  const closeLater = <T extends { close(): Promise<void> }>(resource: T): T =>
    opened.adopt(resource, () => resource.close());
  const config = closeLater(
    await openConfigEditor(configKafka(kafka), names.config, log, {
      secretKeys: settings.secretKeys,
      withoutKey: 'refuse',
      beforeWrite: auditChanges(names.audit),
      requestId: () => currentRequest()?.idempotency?.id,
      giveUpAfterMs: changeGivesUpAfterMs,
    }),
  );
  const history = closeLater(
    openHistory({
      ...{ kafka: historyKafka(kafka), names, log, limits: settings.history },
      folder: path.join(dataDir, 'history'),
    }),
  );
  const store = closeLater(
    await openSuppressionStore({
      ...{ kafka, names, log, folder: path.join(dataDir, 'suppressions') },
      ...(maxSuppressions !== undefined && { maxUsers: maxSuppressions }),
    }),
  );
  const folder = path.join(dataDir, 'audiences');
  const audiences = closeLater(
    await openAudiences({
      ...{ kafka, names, config, users: store, folder, log },
      ratePerSecond: settings.audienceRate,
    }),
  );
  const deletions = closeLater(
    await openDeletions({
      ...{ kafka, names, config, log, suppressions: store },
      audiences: () => audiences.keys(),
    }),
  );
  const suppressions = createSuppressions(names, store, deletions);
  const idempotency = closeLater(await openIdempotency({ kafka, topic: names.idempotency, log, config }));
  const recalls = closeLater(await openRecalls(kafka, names));
  const replays = closeLater(await openReplays({ kafka, names, log }));
  const { failingAfterMs } = settings;
  closeLater(
    await openOperations({
      kafka,
      names,
      config,
      history,
      log,
      failingAfterMs,
      deadSpanMs: 100,
      everyMs: 50,
    }),
  );
  const server = await createServer({
    ...{ settings, log, metrics, kafka, names, signal: stopping.signal },
    ...{ config, history, audiences, deletions, suppressions, recalls, replays, idempotency },
    sessions: createSessionSeal(settings.secretKeys, log),
  });
  opened.defer(() => closeApi(server));
  opened.defer(() => {
    stopping.abort();
  });

  const ask = async (request: ApiRequest): Promise<ApiResponse> => {
    const { method = 'GET', path, body, bytes, headers = {}, token = adminToken } = request;
    const payload = bytes ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await server.inject({
      ...{ method, url: path },
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
    listen: (port = 0) => server.listen({ host: '127.0.0.1', port }),
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
