/** Orderings that a real broker does not produce on demand; open.test.ts has the other tests. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Destination, Source } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { readBack, type OutgoingRecord } from '@tailrace/kafka';
import { noRegistry } from '@tailrace/registry';
import { decisionSentences, decodeDecision, decodeDelivery, type Delivery } from '@tailrace/records';
import type { TransformResult } from '@tailrace/transform';
import { MessageIds } from './deduplication/message-ids.ts';
import type { RouterMetrics } from './metrics.ts';
import { createOrderOf } from './order.ts';
import { createProcessor } from './process-record.ts';
import { createReceiver } from './receive/receive-record.ts';
import { createRejecter } from './reject-record.ts';
import { TransformStage } from './transform-stage.ts';

interface Published {
  readonly record: OutgoingRecord;
  readonly acknowledge: () => void;
  readonly refuse: (error: Error) => void;
}

/** Differences from a valid page call in partition 0. */
interface Sent {
  readonly call?: object;
  readonly partition?: number;
  readonly value?: null;
  readonly isRevoked?: () => boolean;
}

/** The time of every record: recent, so that it is plausible. */
const writtenAt = Date.now() - 1_000;

function destinationOf(id: string, fields: Partial<Destination> = {}): Destination {
  return {
    id,
    type: 'Webhooks',
    enabled: true,
    sources: ['web'],
    settings: { webhooks: [{ url: 'https://crm.example/hook' }] },
    ...fields,
  };
}

/** A router without Kafka: `send` gives it records; its published records wait to be acknowledged. */
function startRouter({
  enabled = [destinationOf('crm'), destinationOf('erp')],
  disabled = [],
}: { enabled?: readonly Destination[]; disabled?: readonly Destination[] } = {}) {
  const sources = new Map<string, Source>();
  const published: Published[] = [];
  const counted: string[] = [];
  const done: number[] = [];
  const runs: { readonly event: string; readonly end: (result: TransformResult) => void }[] = [];
  const suspects = new Set<string>();
  const releases: string[] = [];
  let refresh = Promise.withResolvers<undefined>();
  let nextOffset = 0;
  const count =
    (what: string) =>
    (...labels: unknown[]): void => {
      counted.push([what, ...labels].join(' '));
    };
  const metrics: RouterMetrics = {
    countReceived: () => undefined,
    countRouted: (sourceId, type) => {
      count('routed')(sourceId, type);
    },
    countDelivery: count('created'),
    observeDelay: () => undefined,
    revoked: { inc: count('revoked') },
    expired: { inc: () => undefined },
    duplicates: { inc: count('duplicate') },
    reusedIds: { inc: count('reused id') },
    rejected: {
      inc({ code }) {
        counted.push(`rejected ${code}`);
      },
    },
    transforms: {
      ran: ({ outcome }) => {
        count('ran')(outcome);
      },
      skipped: count('skipped'),
      threadsEnded: { inc: () => undefined },
    },
    filtered: {
      inc({ reason }, by = 1) {
        counted.push(`filtered ${reason} ${by}`);
      },
    },
  };
  const publisher = {
    publish: (record: OutgoingRecord) =>
      new Promise<void>((resolve, reject) => {
        published.push({ record, acknowledge: resolve, refuse: reject });
      }),
  };
  const log = { debug: () => undefined, warn: () => undefined };
  const rejecter = createRejecter({ topic: 'rejected', publisher, metrics, log });
  const sourcesByName = { source: (id: string) => sources.get(id), sourceByWriteKey: () => undefined };
  const transformStage = new TransformStage({
    transforms: {
      run: ({ event }) => new Promise((end) => void runs.push({ event, end })),
      isSuspect: (id) => suspects.has(id),
    },
    metrics,
    onRelease: () => void releases.push('released'),
  });
  const processRecord = createProcessor({
    config: {
      ...sourcesByName,
      destinationsOf: () => enabled,
      disabledDestinationsOf: () => disabled,
      refresh: () => refresh.promise,
    },
    suppressedUsers: { isSuppressed: (userId) => userId === 'suppressed' },
    frames: noRegistry,
    messageIds: new MessageIds(),
    transformStage,
    output: { names: { deliveries: 'deliveries', decisions: 'decisions' }, publisher, rejecter },
    report: {
      reusedIds: { report: () => undefined },
      usage: {
        count: (sourceId, event, filtered) => counted.push(`usage ${sourceId} ${event.type} ${filtered}`),
      },
      metrics,
      log,
    },
  });
  const receiveRecord = createReceiver({
    frames: noRegistry,
    orderOf: createOrderOf(sourcesByName),
    processRecord,
    rejecter,
    metrics,
    waiting: { hasKeyOf: () => false, enqueue: () => Promise.reject(new Error('no record waits')) },
  });
  return {
    published,
    counted,
    done,
    runs,
    suspects,
    releases,
    transformStage,
    /** The next run makes this of its event. */
    async makes(body: string, cpuMs = 1) {
      runs.shift()?.end({ outcome: 'body', body, cpuMs, logs: [] });
      await settled();
    },
    addSource: (id: string) => sources.set(id, { id, writeKeys: ['wk'], enabled: true }),
    /** The router has read the configuration to its end. */
    configRead() {
      refresh.resolve(undefined);
      refresh = Promise.withResolvers<undefined>();
      return settled();
    },
    send(sourceId: string, userId: string, more: Sent = {}) {
      const { call = {}, isRevoked = () => false, ...fields } = more;
      const offset = nextOffset++;
      const work = {
        topic: 'events',
        partition: 0,
        offset,
        timestamp: writtenAt,
        get revoked() {
          return isRevoked();
        },
        done: () => done.push(offset),
      };
      receiveRecord({
        ...work,
        work,
        key: Buffer.from(userId),
        value: Buffer.from(JSON.stringify({ type: 'page', userId, messageId: `m-${offset}`, ...call })),
        ...readBack({ 'source-id': sourceId }),
        get revoked() {
          return isRevoked();
        },
        ...fields,
      });
    },
    keys: () => published.map(({ record }) => String(record.key)),
  };
}

const headerOf = ({ headers }: OutgoingRecord, name: string): string | undefined =>
  readBack(headers).headers[name]?.toString();

/** Resolves when all work that needs no further event has run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('6.8 destinations without fields share one body, and one with fields has its own', () => {
  const enabled = [
    destinationOf('crm'),
    destinationOf('ads', { fields: { exclude: ['properties.email'] } }),
    destinationOf('erp'),
  ];
  const router = startRouter({ enabled });
  router.addSource('web');
  router.send('web', 'u-1', { call: { properties: { email: 'ada@example.com', plan: 'pro' } } });
  const [crm, ads, erp] = router.published.map(({ record }) => record.value);
  assert.equal(crm, erp);
  assert.equal(String(ads), String(crm).replace('"email":"ada@example.com",', ''));
});

test('7.10 the body of a form has the JSON as payload, and its record says so', () => {
  const settings = { webhooks: [{ url: 'https://crm.example/hook' }], contentType: 'form' } as const;
  const router = startRouter({ enabled: [destinationOf('crm', { settings }), destinationOf('erp')] });
  router.addSource('web');
  router.send('web', 'u-1', { call: { properties: { name: 'Zoë & 1+1=2' } } });
  const [form, json] = router.published.map(({ record }) => record);
  assert.ok(form && json);
  assert.equal(headerOf(form, 'content-type'), 'form');
  assert.equal(headerOf(json, 'content-type'), undefined);
  assert.deepEqual([...new URLSearchParams(String(form.value))], [['payload', String(json.value)]]);
});

test('5.10 an event that is not in a sample leaves its rule', () => {
  const router = startRouter({ enabled: [destinationOf('crm', { sample: { percent: 0.01 } })] });
  router.addSource('web');
  router.send('web', 'u-1');
  assert.ok(router.counted.includes('filtered sample 1'));
  const [decision] = router.published.map(({ record }) =>
    decodeDecision({ value: Buffer.from(record.value ?? '') }),
  );
  assert.deepEqual(
    decision && decisionSentences(decision).map((sentence) => sentence.replace(/^At \S+ /, '')),
    ['the router filtered it for crm: it was not in the sample of 0.01 % by user.'],
  );
});

describe('6.10 a delivery with a transform', () => {
  const code = '(event) => event';
  const crm = destinationOf('crm', { transform: { code, version: 3 } });

  function startTransforming(more: readonly Destination[] = [destinationOf('erp')]) {
    const enabled: Destination[] = [crm, ...more];
    const router = { ...startRouter({ enabled }), enabled };
    router.addSource('web');
    return router;
  }

  test('has the body, the headers and the URL that the function makes, and others do not wait for it', async () => {
    const router = startTransforming();
    router.send('web', 'u-1');
    assert.deepEqual(router.keys(), ['erp/u-1']);
    assert.equal(String(router.published[0]?.record.value), router.runs[0]?.event);
    router.published[0]?.acknowledge();
    await settled();
    assert.deepEqual(router.done, []);
    router.runs
      .shift()
      ?.end({ outcome: 'body', body: '{"a":1}', headers: { 'X-A': 'b' }, url: 0, cpuMs: 1, logs: [] });
    await settled();
    const made = router.published[1]?.record;
    assert.ok(made);
    assert.deepEqual([made.key, String(made.value)], ['crm/u-1', '{"a":1}']);
    const delivery = decodeDelivery({
      ...readBack(made.headers),
      key: Buffer.from('crm/u-1'),
      value: Buffer.from(''),
    });
    if (typeof delivery === 'string') assert.fail(delivery);
    assert.deepEqual(
      [delivery.transformVersion, delivery.requestHeaders, delivery.onlyUrl, delivery.transformFailure],
      [3, { 'X-A': 'b' }, 0, undefined],
    );
    router.published[1]?.acknowledge();
    await settled();
    assert.deepEqual(router.done, [0]);
  });

  test('is a form where the content type of its destination says so', async () => {
    const settings = { ...crm.settings, contentType: 'form' } as const;
    const router = startRouter({ enabled: [{ ...crm, settings }] });
    router.addSource('web');
    router.send('web', 'u-1');
    assert.equal((JSON.parse(router.runs[0]?.event ?? '') as { type: string }).type, 'page');
    await router.makes('{"a":1}');
    assert.equal(String(router.published[0]?.record.value), 'payload=%7B%22a%22%3A1%7D');
    assert.equal(headerOf(router.published[0]?.record ?? assert.fail(), 'content-type'), 'form');
  });

  test('leaves a decision with its version where the function returns null, but not for a delete', async () => {
    const router = startTransforming();
    router.send('web', 'u-1');
    router.runs.shift()?.end({ outcome: 'filtered', cpuMs: 1, logs: [] });
    await settled();
    router.published[0]?.acknowledge();
    await settled();
    assert.ok(router.counted.includes('filtered transform 1'));
    const decision = decodeDecision({ value: Buffer.from(router.published[1]?.record.value ?? '') });
    assert.ok(decision);
    assert.equal(decision.routed, 1);
    assert.match(
      decisionSentences(decision).join(),
      /^At \S+ the router filtered it for crm: its transform of version 3 returned null\.$/,
    );
    router.send('web', 'u-1', { call: { type: 'delete' } });
    router.runs.shift()?.end({ outcome: 'filtered', cpuMs: 1, logs: [] });
    await settled();
    assert.deepEqual(router.keys().slice(2), ['erp/u-1', 'crm/u-1']);
  });

  test('has its event and the message where the function fails', async () => {
    const router = startTransforming([]);
    router.send('web', 'u-1');
    const event = router.runs[0]?.event;
    const error = { message: 'TypeError: no', line: 2 };
    router.runs.shift()?.end({ outcome: 'failed', error, cpuMs: 1, logs: [] });
    await settled();
    const made = router.published[0]?.record ?? assert.fail();
    assert.equal(headerOf(made, 'transform-failed'), 'Transform of version 3: TypeError: no (line 2)');
    assert.equal(String(made.value), event);
    router.send('web', 'u-2');
    router.runs.shift()?.end({ outcome: 'body', body: '1', headers: { Host: 'a' }, cpuMs: 1, logs: [] });
    await settled();
    assert.match(
      headerOf(router.published[1]?.record ?? assert.fail(), 'transform-failed') ?? '',
      /"Host" is set by Tailrace/,
    );
  });

  test('keeps the order of its destination, also where the transform is removed meanwhile', async () => {
    const router = startTransforming([]);
    router.send('web', 'u-1');
    router.send('web', 'u-1');
    router.enabled[0] = destinationOf('crm');
    router.send('web', 'u-1');
    await settled();
    assert.equal(router.published.length, 0);
    const [first, second] = router.runs.splice(0);
    second?.end({ outcome: 'body', body: '2', cpuMs: 1, logs: [] });
    await settled();
    assert.equal(router.published.length, 0);
    first?.end({ outcome: 'body', body: '1', cpuMs: 1, logs: [] });
    await settled();
    assert.deepEqual(
      router.published.map(({ record }) => headerOf(record, 'event-id')),
      ['m-0', 'm-1', 'm-2'],
    );
  });

  test('is not published where its partition was revoked meanwhile, because the new owner makes it', async () => {
    const router = startTransforming([]);
    let isRevoked = false;
    router.send('web', 'u-1', { isRevoked: () => isRevoked });
    isRevoked = true;
    await router.makes('1');
    assert.equal(router.published.length, 0);
    assert.deepEqual(router.done, []);
    assert.equal(router.transformStage.waiting, 0);
  });

  test('may not set a header that a setting of its destination makes', async () => {
    const sharedSecret = 's3cret';
    const cases: readonly (readonly [header: string, settings: Partial<Destination['settings']>])[] = [
      ['authorization', { auth: { token: 't' } }],
      ['Authorization', { oauth2: { tokenUrl: 'https://a.example', clientId: 'a', clientSecret: 'b' } }],
      ['x-signature', { sharedSecret }],
      [
        'X-Mine',
        { sharedSecret, signature: { scheme: 'hmac', header: 'x-mine' } } as Partial<Destination['settings']>,
      ],
      ['Webhook-Id', { standardWebhooks: true }],
      ['Webhook-Signature', { standardWebhooks: true }],
      ['X-Id', { deliveryIdHeader: 'x-id' }],
      ['Traceparent', { traceparent: true }],
      ['X-A', {}],
    ];
    for (const [header, settings] of cases) {
      const router = startRouter({ enabled: [{ ...crm, settings: { ...crm.settings, ...settings } }] });
      router.addSource('web');
      router.send('web', 'u-1');
      router.runs
        .shift()
        ?.end({ outcome: 'body', body: '1', headers: { [header]: 'a' }, cpuMs: 1, logs: [] });
      await settled();
      const failed = headerOf(router.published[0]?.record ?? assert.fail(), 'transform-failed');
      if (header === 'X-A') assert.equal(failed, undefined);
      else assert.match(failed ?? '', /is set by Tailrace/, header);
    }
  });

  test('17.7 holds no other source while one has too much, for however many destinations', async () => {
    const { transformStage: stage, runs, releases } = startRouter();
    const make = (sourceId: string, id: string, bytes: number): void => {
      const delivery = { sourceId, destinationId: id, type: 'page', body: Buffer.alloc(bytes) };
      void stage.make(delivery as unknown as Delivery, { ...crm, id }, [sourceId]);
    };
    for (let nth = 0; nth < 200; nth += 1) make('flood', `big-${nth % 100}`, 100_000);
    for (let nth = 0; nth < 10; nth += 1) make('quiet', 'small', 100_000);
    assert.ok(stage.isFull);
    assert.deepEqual([stage.holds('flood'), stage.holds('quiet')], [true, false]);
    while (runs.length > 0) {
      runs.shift()?.end({ outcome: 'filtered', cpuMs: 1, logs: [] });
      await settled();
    }
    assert.deepEqual([stage.waiting, stage.isFull, stage.isHolding], [0, false, false]);
    assert.ok(releases.length > 0);
  });

  test('17.7 holds no other source of the same destination while one has too much', async () => {
    const router = startTransforming([]);
    router.addSource('quiet');
    for (let nth = 0; nth < 130; nth += 1) router.send('web', `u-${nth}`);
    router.send('quiet', 'u-1');
    assert.deepEqual(
      ['web', 'quiet'].map((id) => router.transformStage.holds(id)),
      [true, false],
    );
    router.runs.pop()?.end({ outcome: 'body', body: '1', cpuMs: 1, logs: [] });
    await settled();
    assert.deepEqual(router.keys(), ['crm/u-1']);
    router.suspects.add('crm');
    router.send('web', 'skipped');
    router.send('quiet', 'u-2');
    assert.equal(router.runs.length, 131);
  });

  test('is waited for while the router reads no more, but not beyond the limit for a slow function', async () => {
    const router = startTransforming([]);
    const { transformStage: stage } = router;
    for (let nth = 0; nth < 300; nth += 1) router.send('web', `u-${nth}`);
    stage.allowHolds(false);
    router.send('web', 'fast');
    assert.ok(stage.holds('web'));
    assert.equal(router.runs.length, 301);
    stage.allowHolds(true);
    for (let nth = 0; nth < 110; nth += 1) await router.makes('1', 3);
    assert.ok(stage.holds('web'));
    assert.deepEqual(router.releases, []);
    stage.allowHolds(false);
    assert.ok(!stage.isHolding);
    assert.deepEqual(router.releases, ['released']);
    router.send('web', 'slow');
    assert.ok(!stage.isHolding);
    assert.equal(router.runs.length, 191);
    stage.allowHolds(true);
    router.send('web', 'later');
    assert.ok(stage.holds('web'));
    for (let nth = 0; nth < 192; nth += 1) await router.makes('1');
    assert.equal(router.published.length, 303);
    assert.equal(router.counted.filter((what) => what === 'skipped').length, 1);
  });

  test('holds its sources while too much waits, and those of a suspect are not run', async () => {
    const router = startTransforming([]);
    for (let nth = 0; nth < 130; nth += 1) router.send('web', `u-${nth}`);
    assert.ok(router.transformStage.holds('web'));
    assert.equal(router.runs.length, 130);
    for (let nth = 0; nth < 100; nth += 1) await router.makes('1');
    assert.ok(!router.transformStage.holds('web'));
    assert.deepEqual(router.releases, ['released']);
    router.suspects.add('crm');
    for (let nth = 0; nth < 100; nth += 1) router.send('web', `v-${nth}`);
    assert.equal(router.runs.length, 30 + 98);
    assert.ok(!router.transformStage.holds('web'));
    assert.equal(router.counted.filter((what) => what === 'skipped').length, 2);
    for (let nth = 0; nth < 128; nth += 1) await router.makes('1');
    assert.equal(router.published.length, 230);
    assert.equal(router.transformStage.waiting, 0);
    assert.match(
      router.published.map(({ record }) => headerOf(record, 'transform-failed')).join(),
      /not run, because it takes too long: 128 events wait/,
    );
  });
});

describe('a record is done', () => {
  test('only when every delivery is acknowledged', async () => {
    const router = startRouter();
    const created = (): string[] => router.counted.filter((what) => what.startsWith('created'));
    router.addSource('web');
    router.send('web', 'u-1');
    assert.deepEqual(router.keys(), ['crm/u-1', 'erp/u-1']);
    assert.deepEqual(created(), []);
    router.published[1]?.acknowledge();
    await settled();
    assert.deepEqual(router.done, []);
    assert.deepEqual(created(), ['created erp'], 'acknowledged deliveries are counted');
    router.published[0]?.acknowledge();
    await settled();
    assert.deepEqual(router.done, [0]);
    assert.deepEqual(created(), ['created erp', 'created crm']);
  });

  test('when it is rejected and the rejection is acknowledged', async () => {
    const router = startRouter();
    router.addSource('web');
    router.send('web', 'u-1', { call: { type: 'track' } });
    assert.equal(router.published[0]?.record.topic, 'rejected');
    await settled();
    assert.deepEqual(router.done, []);
    assert.deepEqual(router.counted, []);
    router.published[0].acknowledge();
    await settled();
    assert.deepEqual(router.done, [0]);
    assert.deepEqual(router.counted, ['rejected invalid-call']);
  });

  test('immediately where it is a repeat', () => {
    const router = startRouter();
    router.addSource('web');
    router.send('web', 'u-1', { call: { messageId: 'm' } });
    router.send('web', 'u-1', { call: { messageId: 'm' } });
    assert.equal(router.published.length, 2);
    assert.deepEqual(router.done, [1]);
    assert.equal(router.counted.at(-1), 'duplicate');
  });

  test('not while the process is stopping: the next owner of the partition repeats it', async () => {
    const router = startRouter();
    router.addSource('web');
    router.send('web', 'u-1');
    router.published[0]?.refuse(new TailraceError('record-too-large'));
    router.published[1]?.refuse(new TailraceError('shutting-down'));
    await settled();
    assert.equal(router.published.length, 2);
    assert.deepEqual(router.done, []);
  });
});

describe('a suppressed user', () => {
  test('5.8 has no deliveries, which is recorded as the decision, and the call counts as usage', () => {
    const router = startRouter();
    router.addSource('web');
    router.send('web', 'suppressed');
    const [decision, ...others] = router.published.map(({ record }) => record);
    assert.deepEqual([decision?.topic, others], ['decisions', []]);
    const { routed, filtered } = JSON.parse(String(decision?.value)) as Record<string, unknown>;
    const group = { reason: 'suppressed', count: 2, destinations: ['crm', 'erp'] };
    assert.deepEqual([routed, filtered], [0, [group]]);
    assert.deepEqual(router.counted, ['routed web page', 'usage web page false', 'filtered suppressed 2']);
  });

  test('5.8 is still deleted at the destinations, and an anonymous id is not the id of a user', () => {
    const router = startRouter();
    router.addSource('web');
    router.send('web', 'suppressed', { call: { type: 'delete' } });
    router.send('web', 'suppressed', { call: { userId: undefined, anonymousId: 'suppressed' } });
    assert.equal(router.keys().length, 4);
  });
});

describe('a record that is too large for Kafka', () => {
  test('is rejected where it is a delivery, and other destinations still get theirs', async () => {
    const router = startRouter();
    router.addSource('web');
    router.send('web', 'u-1');
    router.published[0]?.refuse(new TailraceError('record-too-large'));
    router.published[1]?.acknowledge();
    await settled();
    const rejected = router.published[2];
    assert.equal(rejected?.record.topic, 'rejected');
    assert.equal(headerOf(rejected.record, 'error-code'), 'record-too-large');
    rejected.acknowledge();
    await settled();
    assert.deepEqual(router.done, [0]);
  });

  test('is written without content where it is a rejected record', async () => {
    const router = startRouter();
    router.send('web', 'u-1', { value: null });
    router.published[0]?.refuse(new TailraceError('record-too-large'));
    await settled();
    const written = router.published[1];
    assert.deepEqual([written?.record.key, written?.record.value], [null, null]);
    assert.equal(written && headerOf(written.record, 'origin-offset'), '0');
    written?.acknowledge();
    await settled();
    assert.deepEqual(router.done, [0]);
  });
});

describe('a record of an unknown source', () => {
  test('waits for a read of the configuration, which may have the source', async () => {
    const router = startRouter();
    router.send('web', 'u-1');
    await settled();
    assert.deepEqual(router.keys(), []);
    router.addSource('web');
    await router.configRead();
    assert.deepEqual(router.keys(), ['crm/u-1', 'erp/u-1']);
  });

  test('is rejected where the configuration does not have the source', async () => {
    const router = startRouter();
    router.send('missing', 'u-1');
    await router.configRead();
    assert.equal(router.published[0] && headerOf(router.published[0].record, 'error-code'), 'unknown-source');
  });

  test('delays later events of its user from the source, and no other events', async () => {
    const router = startRouter();
    router.addSource('web');
    router.send('new', 'u-1');
    router.addSource('new');
    router.send('new', 'u-1');
    router.send('web', 'u-1');
    router.send('new', 'u-2');
    router.send('new', 'u-1', { partition: 1 });
    const positions = (): unknown[] =>
      router.published
        .map(({ record }) => headerOf(record, 'event-position'))
        .filter((_, nth) => nth % 2 === 0);
    assert.deepEqual(positions(), ['0/2', '0/3', '1/4']);
    await router.configRead();
    assert.deepEqual(positions().slice(3), ['0/0', '0/1']);
  });

  test('is dropped where its partition was revoked meanwhile', async () => {
    const router = startRouter();
    let revoked = false;
    router.send('web', 'u-1', { isRevoked: () => revoked });
    revoked = true;
    await router.configRead();
    assert.deepEqual([router.published, router.done, router.counted], [[], [], ['revoked']]);
  });
});

test('4.5 a call of years ago is routed like a new one, and begins no retry window', () => {
  const router = startRouter();
  router.addSource('web');
  for (const timestamp of ['2014-02-03', undefined]) router.send('web', 'u-1', { call: { timestamp } });
  assert.deepEqual(router.keys(), ['crm/u-1', 'erp/u-1', 'crm/u-1', 'erp/u-1']);
  const [old, recent] = [router.published[0]?.record, router.published[2]?.record];
  assert.match(String(old?.value), /"timestamp":"2014-02-03T00:00:00.000Z"/);
  const progress = ['attempt', 'first-attempt-at', 'due-at', 'accepted-at'];
  for (const name of progress)
    assert.equal(old && headerOf(old, name), recent && headerOf(recent, name), name);
});

test('a filtered event counts toward the usage of its source', () => {
  const router = startRouter();
  router.addSource('web');
  router.send('web', 'u-1', { call: { integrations: { All: false } } });
  assert.deepEqual(router.counted, ['routed web page', 'usage web page false', 'filtered integrations 2']);
});

describe('a decision', () => {
  const off = destinationOf('off', { enabled: false });
  const decisionOf = ({ published }: ReturnType<typeof startRouter>) => {
    const records = published.map(({ record }) => record).filter(({ topic }) => topic === 'decisions');
    assert.ok(records.length <= 1);
    const [record] = records;
    return record && { key: record.key, ...decodeDecision({ value: Buffer.from(record.value ?? '') }) };
  };

  test('is not written where each connected destination gets the event', () => {
    const router = startRouter();
    router.addSource('web');
    router.send('web', 'u-1');
    assert.deepEqual([router.published.length, decisionOf(router)], [2, undefined]);
  });

  test('5.7 names the destinations that do not get it, and why; the record is done when Kafka has it', async () => {
    const picky = destinationOf('picky', {
      filter: { condition: { field: 'properties.total', atLeast: 100 } },
    });
    const router = startRouter({ enabled: [destinationOf('crm'), picky], disabled: [off] });
    router.addSource('web');
    router.send('web', 'u-1', { call: { properties: { total: 99.5 } } });
    const { decidedAt, ...decision } = decisionOf(router) ?? {};
    assert.ok((decidedAt ?? 0) >= writtenAt);
    assert.deepEqual(decision, {
      key: 'u-1',
      eventId: 'm-0',
      sourceId: 'web',
      type: 'page',
      routed: 1,
      filtered: [
        { reason: 'disabled', count: 1, destinations: ['off'] },
        {
          reason: 'filter',
          count: 1,
          destinations: ['picky'],
          rule: { path: 'condition', text: 'properties.total atLeast 100' },
        },
      ],
    });
    assert.deepEqual(
      router.counted.filter((what) => what.startsWith('filtered')),
      ['filtered disabled 1', 'filtered filter 1'],
    );
    const isDecision = ({ record }: Published): boolean => record.topic === 'decisions';
    for (const record of router.published) if (!isDecision(record)) record.acknowledge();
    await settled();
    assert.deepEqual(router.done, []);
    router.published.find(isDecision)?.acknowledge();
    await settled();
    assert.deepEqual(router.done, [0]);
  });

  test('has the name of a track event', () => {
    const router = startRouter({ enabled: [] });
    router.addSource('web');
    router.send('web', 'u-1', { call: { type: 'track', event: 'Signed Up' } });
    assert.equal(decisionOf(router)?.event, 'Signed Up');
  });

  test('5.7 is written where no destination is connected', () => {
    const router = startRouter({ enabled: [] });
    router.addSource('web');
    router.send('web', 'u-1');
    const decision = decisionOf(router);
    assert.deepEqual([decision?.routed, decision?.filtered], [0, []]);
  });

  test('is not written for a repeat: the first call of the id has one', () => {
    const router = startRouter({ enabled: [], disabled: [off] });
    router.addSource('web');
    router.send('web', 'u-1', { call: { messageId: 'm' } });
    router.send('web', 'u-1', { call: { messageId: 'm' } });
    assert.equal(router.published.length, 1);
  });
});

test('3.6 17.2 an event read twice has the same delivery ids and the same bytes, also where its messageId was used before', () => {
  const once = (): OutgoingRecord[] => {
    const router = startRouter();
    router.addSource('web');
    router.send('web', 'u-1', { call: { messageId: null } });
    for (const path of ['/forged', '/genuine'])
      router.send('web', 'u-1', { call: { messageId: 'm', properties: { path } } });
    return router.published.map(({ record }) => record);
  };
  const first = once();
  assert.equal(new Set(first.map((record) => headerOf(record, 'delivery-id'))).size, 6);
  assert.deepEqual(once(), first);
});

test('two events with one messageId and different content have different delivery ids, also in two partitions', () => {
  const router = startRouter();
  router.addSource('web');
  for (const partition of [0, 1]) {
    router.send('web', `u-${partition}`, { partition, call: { messageId: 'm' } });
  }
  const ids = router.published.map(({ record }) => headerOf(record, 'delivery-id'));
  assert.equal(new Set(ids).size, 4);
});
