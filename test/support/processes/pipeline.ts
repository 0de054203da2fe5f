/**
 * The whole pipeline for a test: ingest, router and delivery on their own topics, in the process of the test or as
 * processes. Tests add sources and destinations while it runs, so that many tests share one pipeline.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { applyConfiguration, type Configuration, type Destination, type Source } from '@tailrace/config';
import { connectKafka, type Kafka, type KafkaLog } from '@tailrace/kafka';
import type { MemoryCluster } from '@tailrace/kafka/testing';
import { eventually } from '@tailrace/testing';
import { urlOf, type ServiceHere } from '@tailrace/service/testing';
import { parseDuration } from '@tailrace/events';
import { decodeDelivery, type AttemptRecord, type Delivery } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import { sharedBroker } from '../kafka/broker.ts';
import { certificates } from '../receivers/certificates.ts';
import { startServiceHere, type ServiceName } from './here.ts';
import { startService, type Environment, type ServiceProcess } from './process.ts';
import { createTopics, headerOf, uniquePrefix, watchTopic, type WatchedTopic } from '../kafka/topics.ts';

export type CallType = 'track' | 'identify' | 'page' | 'screen' | 'group' | 'alias';
export type Call = Readonly<Record<string, unknown>>;

export interface Pipeline<Service extends ServiceHere = ServiceHere> extends AsyncDisposable {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  /** Origin of ingest, without a trailing slash. */
  readonly ingestUrl: string;
  readonly ingest: Service;
  readonly router: Service;
  readonly delivery: Service;
  /** Adds a source connected to new destinations; resolves when ingest accepts its calls. */
  connect(destinations: OneOrMore<DestinationSettings>, source?: Partial<Source>): Promise<Connection>;
  /** Adds a destination with these settings; rejects with `invalid-configuration` if they break a rule. */
  tryConfiguration(settings: DestinationSettings): Promise<void>;
  /** Resolves with the first dead letter of the destination. */
  deadLetter(destinationId: string): Promise<Delivery>;
  /** Resolves with the destination's record of an attempt with this outcome. */
  attempt(destinationId: string, outcome: AttemptRecord['outcome']): Promise<AttemptRecord>;
  /** The records of the destination in the topic: `deliveries`, a tier, the dead letters. */
  deliveriesIn(topic: string, destinationId: string): Promise<Delivery[]>;
}

type OneOrMore<T> = T | readonly T[];

/** A destination's settings without the fields that tests rarely need. */
export type DestinationSettings = Destination['settings'] &
  Partial<Pick<Destination, 'enabled' | 'fields' | 'retry' | 'transform'>>;

/** A source for one test, and the destinations connected to it. */
export interface Connection {
  readonly sourceId: string;
  readonly writeKey: string;
  readonly destinationIds: readonly string[];
  /** The id of the only destination. */
  readonly destinationId: string;
  /** Sends a call over HTTP; resolves when ingest has accepted it. */
  readonly send: (type: CallType, call: Call) => Promise<void>;
  /** POSTs anything to ingest with the source's write key. */
  readonly post: (route: string, body: unknown) => Promise<Response>;
}

export interface PipelineOptions {
  /** The services run on this cluster instead of real Kafka. */
  readonly cluster?: MemoryCluster;
  /** Services in the process of the test have the metrics of Node and of the process, too. */
  readonly processMetrics?: boolean;
  /** The test's own broker, which it may stop; default: the shared one. */
  readonly brokers?: readonly string[];
  readonly partitions?: number;
  readonly retrySchedule?: string;
  readonly retryWindow?: string;
  /** By default long enough that a receiver of a busy test process answers in time. */
  readonly deliveryTimeout?: string;
  /** More environment variables for every service. */
  readonly env?: Environment;
}

/** Each service in the process of the test. */
export function startPipeline(options: PipelineOptions = {}): Promise<Pipeline> {
  const { cluster, processMetrics = false } = options;
  return open(options, (name, env) => startServiceHere(name, env, { cluster, processMetrics }));
}

/** Each service as a process: to kill it, to measure its memory, or to read everything that it prints. */
export function startPipelineOfProcesses(options: PipelineOptions = {}): Promise<Pipeline<ServiceProcess>> {
  return open(options, startService);
}

async function open<Service extends ServiceHere>(
  options: PipelineOptions,
  startOne: (name: ServiceName, env: Environment) => Promise<Service>,
): Promise<Pipeline<Service>> {
  const {
    retrySchedule = '1s,1s,2s,10s',
    retryWindow = '8s',
    deliveryTimeout = '15s',
    partitions = 2,
  } = options;
  await using started = new AsyncDisposableStack();
  const { cluster } = options;
  const brokers = cluster ? ['memory:9092'] : (options.brokers ?? (await sharedBroker()).brokers);
  const kafka = cluster?.connect() ?? connectKafka({ brokers, clientId: 'tailrace-test' }, quiet);
  started.defer(() => kafka.close());
  const prefix = uniquePrefix();
  const retryScheduleMs = retrySchedule.split(',').map((delay) => parseDuration(delay) ?? NaN);
  const names = await createTopics(kafka, prefix, { partitions, retryScheduleMs });

  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-pipeline-'));
  started.defer(() => rm(folder, { recursive: true }));
  const authority = path.join(folder, 'authority.pem');
  await writeFile(authority, certificates().authority);

  const environment: Environment = {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
    TAILRACE_PARTITIONS: String(partitions),
    TAILRACE_INGEST_PORT: '0',
    TAILRACE_METRICS_PORT: '0',
    TAILRACE_RETRY_SCHEDULE: retrySchedule,
    TAILRACE_RETRY_WINDOW: retryWindow,
    TAILRACE_DELIVERY_TIMEOUT: deliveryTimeout,
    TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8,::1/128',
    NODE_EXTRA_CA_CERTS: authority,
    ...options.env,
  };
  const start = async (name: ServiceName): Promise<Service> => started.use(await startOne(name, environment));
  const [ingest, router, delivery] = [await start('ingest'), await start('router'), await start('delivery')];

  const watched = new Map<string, Promise<WatchedTopic>>();
  const watch = (topic: string): Promise<WatchedTopic> => {
    const watching = watched.get(topic) ?? watchTopic(kafka, topic);
    watched.set(topic, watching);
    return watching;
  };

  const configure = inTurns((added) => applyConfiguration(kafka, names.config, added));
  const all = started.move();
  return {
    kafka,
    names,
    get ingestUrl() {
      return urlOf(ingest);
    },
    ingest,
    router,
    delivery,
    async connect(settings, more = {}) {
      const id = randomBytes(4).toString('hex');
      const source = { id: `source-${id}`, writeKeys: [`wk_${id}`], enabled: true, ...more };
      const destinations = [settings]
        .flat()
        .map(({ enabled = true, fields, retry, transform, ...settings }, index) => ({
          id: `destination-${id}-${index + 1}`,
          type: 'Webhooks' as const,
          enabled,
          sources: [source.id],
          ...(fields && { fields }),
          ...(retry && { retry }),
          ...(transform && { transform }),
          settings,
        }));
      await configure({ sources: [source], destinations });
      const connection = connectionOf(
        () => urlOf(ingest),
        source,
        destinations.map(({ id }) => id),
      );
      await untilInForce(connection);
      return connection;
    },
    async tryConfiguration(settings) {
      const id = randomBytes(4).toString('hex');
      const destination = { id, type: 'Webhooks' as const, enabled: true, sources: [], settings };
      await applyConfiguration(kafka, names.config, { sources: [], destinations: [destination] });
    },
    async deadLetter(destinationId) {
      const letters = await watch(names.deliveriesDead);
      const letter = decodeDelivery(
        await letters.find((record) => headerOf(record, 'destination-id') === destinationId),
      );
      if (typeof letter === 'string') throw new Error(letter);
      return letter;
    },
    async attempt(destinationId, outcome) {
      const attempts = await watch(names.attempts);
      const parse = ({ value }: { value: Buffer | null }): AttemptRecord =>
        JSON.parse(value?.toString() ?? 'null') as AttemptRecord;
      const record = await attempts.find((candidate) => {
        const attempt = parse(candidate);
        return attempt.destinationId === destinationId && attempt.outcome === outcome;
      });
      return parse(record);
    },
    async deliveriesIn(topic, destinationId) {
      const records = await watch(topic);
      await records.refresh();
      return records.items.flatMap((record) => {
        const found = decodeDelivery(record);
        return typeof found !== 'string' && found.destinationId === destinationId ? [found] : [];
      });
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Applies one addition at a time; additions made meanwhile are applied together. */
function inTurns(apply: (added: Configuration) => Promise<unknown>): (added: Configuration) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  let next: { readonly added: Configuration[]; readonly applied: Promise<unknown> } | undefined;
  return async (added) => {
    if (!next) {
      const waiting: Configuration[] = [];
      const applied = last.then(() => {
        next = undefined;
        return apply({
          sources: waiting.flatMap(({ sources }) => sources),
          destinations: waiting.flatMap(({ destinations }) => destinations),
        });
      });
      next = { added: waiting, applied };
      last = applied.catch(() => undefined);
    }
    next.added.push(added);
    await next.applied;
  };
}

function connectionOf(
  ingestUrl: () => string,
  source: { readonly id: string; readonly writeKeys: readonly string[] },
  destinationIds: readonly string[],
): Connection {
  const [writeKey = ''] = source.writeKeys;
  const post = (route: string, body: unknown): Promise<Response> =>
    fetch(`${ingestUrl()}/v1/${route}`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${writeKey}:`)}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return {
    sourceId: source.id,
    writeKey,
    destinationIds,
    get destinationId() {
      const [only, ...others] = destinationIds;
      assert.ok(only !== undefined && others.length === 0, 'the connection has exactly one destination');
      return only;
    },
    post,
    async send(type, call) {
      const response = await post(type, call);
      const answer = await response.text();
      assert.equal(response.status, 200, answer);
    },
  };
}

/** An empty batch is accepted as soon as the write key is known, and writes nothing. */
async function untilInForce(connection: Connection): Promise<void> {
  await eventually(
    () => connection.post('batch', { batch: [] }),
    ({ status }) => status === 200,
  );
}

const silent = (): void => undefined;
const quiet: KafkaLog = { debug: silent, info: silent, warn: silent, error: silent };
