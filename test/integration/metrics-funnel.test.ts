/**
 * The funnel: after a mixed load and a drain, the counters of every step have exactly the values that follow from what was
 * sent, and the equations of packages/metrics hold. The order of the load is random.
 */
import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { applyConfiguration, type Destination } from '@tailrace/config';
import { replayDeadLetters } from '@tailrace/deadletters';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { exposedNames, funnel } from '@tailrace/metrics';
import { probesUrlOf } from '@tailrace/service/testing';
import { eventually } from '@tailrace/testing';
import { frame, startFaultyRegistry, type FaultyRegistry } from '../support/kafka/registry.ts';
import { scrape, sumOf, type Series } from '../support/metrics/scrape.ts';
import { startPipeline, type Pipeline } from '../support/processes/pipeline.ts';
import { status } from '../support/receivers/answers.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const source = { id: 'web', writeKeys: ['wk_web'], enabled: true, schema: { track: { blocked: ['Debug'] } } };
/** Connected to the source and enabled. */
const destinationIds = ['good', 'ordered', 'flaky', 'refusing', 'failing'];
const waitingSchema = 7;

const opened = new AsyncDisposableStack();
let pipeline: Pipeline;
let registry: FaultyRegistry;
let urls: readonly string[];
/** Whether the destination `refusing` accepts by now. */
let isRepaired = false;

before(async () => {
  registry = opened.use(await startFaultyRegistry());
  pipeline = opened.use(
    await startPipeline({
      cluster: new MemoryCluster(),
      retrySchedule: '50ms,100ms,100ms',
      retryWindow: '2m',
      env: { SCHEMA_REGISTRY_URL: registry.url },
    }),
  );
  const seen = new Set<string>();
  const receiver = opened.use(
    await startReceiver({
      answer: ({ path, body }) => {
        if (path === '/refusing') return status(isRepaired ? 200 : 400);
        if (path === '/failing') return status(500);
        const isFirst = !seen.has(String(body));
        seen.add(String(body));
        return status(path === '/flaky' && isFirst && body.includes('"flaky":true') ? 503 : 200);
      },
    }),
  );
  const destination = (id: string, more: Partial<Destination> = {}): Destination => ({
    id,
    type: 'Webhooks',
    enabled: true,
    sources: [source.id],
    settings: { webhooks: [{ url: `${receiver.url}/${id}` }] },
    ...more,
  });
  await applyConfiguration(pipeline.kafka, pipeline.names.config, {
    sources: [source],
    destinations: [
      ...destinationIds.map((id) => destination(id, id === 'ordered' ? { ordering: 'user' } : {})),
      destination('off', { enabled: false }),
    ],
  });
  urls = [pipeline.ingest, pipeline.router, pipeline.delivery].map(probesUrlOf);
});
after(() => opened.disposeAsync());

/** The values that the counters must have, by the name of the metric and the values of its labels. */
class Expected {
  readonly #values = new Map<string, number>();

  add(name: string, by = 1): this {
    this.#values.set(name, (this.#values.get(name) ?? 0) + by);
    return this;
  }

  get values(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#values].sort());
  }

  /** A valid call that ingest accepts. */
  accepted(type = 'track'): this {
    return this.add('ingest_calls_received').add(`ingest_calls ${type}`);
  }

  /** A new event that goes to all destinations. */
  delivered(type = 'track'): this {
    return this.routed(type)
      .add('deliveries_created', destinationIds.length)
      .add('deliveries_ended delivered', 3)
      .add('deliveries_ended dead', 2);
  }

  routed(type = 'track'): this {
    return (
      this.add('router_events_received')
        .add(`events_routed ${type}`)
        .add('deliveries_considered', destinationIds.length + 1)
        // The connected destination that is disabled.
        .add('deliveries_filtered disabled')
    );
  }

  filtered(reason: string): this {
    return this.routed().add(`deliveries_filtered ${reason}`, destinationIds.length);
  }

  rejected(code: string): this {
    return this.add('router_events_received').add(`events_rejected ${code}`);
  }

  refused(code: string, calls = 1): this {
    return this.add('ingest_calls_received', calls).add(`ingest_calls_refused ${code}`, calls);
  }
}

async function post(path: string, body: unknown, { key = 'wk_web', expect = 200 } = {}): Promise<void> {
  const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${pipeline.ingestUrl}${path}`, {
    method: 'POST',
    headers: { authorization },
    body: text,
  });
  assert.equal(response.status, expect, `${path}: ${await response.text()}`);
}

const call = (more: object = {}) => ({
  type: 'track',
  event: 'Order Completed',
  messageId: randomUUID(),
  userId: `u-${randomInt(5)}`,
  ...more,
});

async function write(value: string | Buffer, sourceId = source.id): Promise<void> {
  const publisher = pipeline.kafka.publisher();
  await publisher.publish({
    topic: pipeline.names.events,
    key: 'u-1',
    value,
    headers: { 'source-id': sourceId },
  });
}

const tooLong = 'x'.repeat(40_000);

/** Each kind of input, and what has to be counted for it. */
const kinds: Readonly<Record<string, (expected: Expected) => Promise<void>>> = {
  async 'a valid call'(expected) {
    await post('/v1/track', call());
    expected.accepted().delivered();
  },
  async 'a call of another type'(expected) {
    await post('/v1/identify', { userId: 'u-1', messageId: randomUUID() });
    expected.accepted('identify').delivered('identify');
  },
  async 'a call that fails at first'(expected) {
    await post('/v1/track', call({ properties: { flaky: true } }));
    expected.accepted().delivered();
  },
  async 'an invalid call'(expected) {
    await post('/v1/track', { event: 'no user' }, { expect: 400 });
    expected.refused('invalid-call');
  },
  async 'a repeated call'(expected) {
    const repeated = call({ userId: 'repeater' });
    await post('/v1/track', repeated);
    await post('/v1/track', repeated);
    expected.accepted().delivered().accepted().add('router_events_received').add('events_duplicate');
  },
  async 'a batch with an invalid and an oversized call'(expected) {
    await post('/v1/batch', {
      batch: [call(), { type: 'track' }, call({ properties: { tooLong } }), call()],
    });
    expected.accepted().delivered().accepted().delivered().add('ingest_calls_received', 2);
    expected.add('ingest_rejected invalid-call').add('ingest_rejected call-too-large');
  },
  async 'a batch without a valid call'(expected) {
    await post('/v1/batch', { batch: [{ type: 'track' }, { type: 'page' }] }, { expect: 400 });
    expected.refused('invalid-call', 2);
  },
  async 'requests that are no calls'() {
    await post('/v1/track', call(), { key: 'wk_unknown', expect: 401 });
    await post('/v1/track', '{', { expect: 400 });
    await post('/v1/track', call({ properties: { tooLong } }), { expect: 413 });
    await post('/v1/batch', { batch: 7 }, { expect: 400 });
  },
  async 'a blocked event'(expected) {
    await post('/v1/track', call({ event: 'Debug' }));
    expected.accepted().filtered('schema');
  },
  async 'an event that its integrations filter'(expected) {
    await post('/v1/track', call({ integrations: { All: false } }));
    expected.accepted().filtered('integrations');
  },
  async 'a record of a direct producer'(expected) {
    await write(JSON.stringify(call()));
    expected.delivered();
  },
  async 'records that cannot be used'(expected) {
    await write('garbage');
    await write(JSON.stringify({ type: 'track' }));
    await write(JSON.stringify(call()), 'unknown');
    expected.rejected('malformed-json').rejected('invalid-call').rejected('unknown-source');
  },
  async 'a record that waits for its schema'(expected) {
    await write(frame(waitingSchema, call({ userId: `waiting-${randomUUID()}` })));
    expected.delivered();
  },
  async 'a record that is not a delivery'(expected) {
    const publisher = pipeline.kafka.publisher();
    await publisher.publish({ topic: pipeline.names.deliveries, key: 'k', value: 'not a delivery' });
    expected.add('deliveries_ended dead');
  },
};

/** The counters of the funnel that are not 0. */
function counted(series: readonly Series[]): Readonly<Record<string, number>> {
  const names = new Set<string>(
    funnel.flatMap(({ left, right }) => [...left, ...right]).map(({ name }) => name),
  );
  for (const other of ['tailrace_dead_letters_total', 'tailrace_delivery_attempts_total'])
    names.delete(other);
  const found = series
    .filter(({ name, value }) => names.has(name) && value > 0)
    .map(({ name, labels, value }) => {
      const short = name.replace(/^tailrace_(.*)_total$/, '$1');
      return [[short, ...Object.values(labels)].join(' '), value] as const;
    });
  return Object.fromEntries(found.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Waits until nothing is read, in flight or waiting any more. */
async function drained(expected: Expected): Promise<readonly Series[]> {
  const ended = (values: Readonly<Record<string, number>>): number =>
    (values['deliveries_ended delivered'] ?? 0) + (values['deliveries_ended dead'] ?? 0);
  await eventually(
    () => scrape(urls),
    (series) =>
      ended(counted(series)) >= ended(expected.values) &&
      sumOf(series, { name: 'tailrace_consumer_lag_records' }) === 0,
  );
  // The pages were read at the same time, so another one may have been a moment behind.
  return scrape(urls);
}

function assertAddsUp(series: readonly Series[], expected: Expected): void {
  assert.deepEqual(counted(series), expected.values);
  for (const { left, right } of funnel) {
    const sum = (side: typeof left): number => side.reduce((all, term) => all + sumOf(series, term), 0);
    assert.equal(sum(left), sum(right), JSON.stringify({ left, right }));
  }
  const parts = [
    ['tailrace_source_events_total', 'tailrace_events_routed_total'],
    ['tailrace_destination_deliveries_created_total', 'tailrace_deliveries_created_total'],
    ['tailrace_destination_attempts_total', 'tailrace_delivery_attempts_total'],
    ['tailrace_destination_dead_letters_total', 'tailrace_dead_letters_total'],
    ['tailrace_destination_deferred_total', 'tailrace_deliveries_put_off_total'],
    ['tailrace_destination_behind_total', 'tailrace_deliveries_behind_total'],
    ['tailrace_destination_parked_total', 'tailrace_deliveries_parked_total'],
    ['tailrace_destination_delivery_age_seconds_count', 'tailrace_delivery_age_seconds_count'],
  ] as const;
  for (const [part, total] of parts) {
    assert.equal(sumOf(series, { name: part }), sumOf(series, { name: total }), `${part}, ${total}`);
  }
  const routed = sumOf(series, { name: 'tailrace_events_routed_total' });
  assert.equal(sumOf(series, { name: 'tailrace_routing_delay_seconds_count' }), routed);
}

const expected = new Expected();

test('17.3 after a mixed load and a drain, every counter has its exact value and the equations hold', async () => {
  registry.answers(() => 500);
  const load = Array.from({ length: 4 }, () => Object.keys(kinds)).flat();
  for (let last = load.length; last > 1; last -= 1) {
    const other = randomInt(last);
    [load[last - 1], load[other]] = [load[other] ?? '', load[last - 1] ?? ''];
  }
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let kind = load.pop(); kind !== undefined; kind = load.pop()) await kinds[kind]?.(expected);
    }),
  );
  registry.answers(() => 200);
  assertAddsUp(await drained(expected), expected);
});

test('replayed dead letters enter again, and the equations still hold', async () => {
  isRepaired = true;
  const { kafka, names } = pipeline;
  const ends = await kafka.offsetsAt(names.deliveriesDead, Date.now() + 3_600_000);
  const result = await replayDeadLetters(kafka, names, {
    filter: { destinationId: 'refusing' },
    ends,
    ratePerSecond: 1_000,
    signal: new AbortController().signal,
  });
  assert.ok(result.replayed > 0);
  expected.add('deliveries_replayed', result.replayed).add('deliveries_ended delivered', result.replayed);
  assertAddsUp(await drained(expected), expected);
});

test('every series is one of the catalogue', async () => {
  const known = new Map(exposedNames().map(({ name, labels }) => [name, [...labels].sort()]));
  for (const { name, labels } of await scrape(urls)) {
    assert.deepEqual(Object.keys(labels).sort(), known.get(name), name);
  }
});
