/** The order of things, which a real broker cannot be made to show at will: test/integration/router.test.ts has the rest. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Source } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { readBack, type OutgoingRecord } from '@tailrace/kafka';
import { noRegistry } from '@tailrace/registry';
import { createDedupe } from './dedupe.ts';
import type { RouterObserver } from './observe.ts';
import { createRouter } from './process-record.ts';

interface Published {
  readonly record: OutgoingRecord;
  readonly acknowledge: () => void;
  readonly refuse: (error: Error) => void;
}

/** What differs from a valid page call in partition 0. */
interface Sent {
  readonly call?: object;
  readonly partition?: number;
  readonly value?: null;
  readonly isRevoked?: () => boolean;
}

/** Of every record: lately, so that it is believed. */
const writtenAt = Date.now() - 1_000;

/** A router between hand-moved parts: records go in, publishes come out and wait to be acknowledged. */
function startRouter() {
  const sources = new Map<string, Source>();
  const published: Published[] = [];
  const counted: string[] = [];
  const done: number[] = [];
  let refresh = Promise.withResolvers<undefined>();
  let nextOffset = 0;
  const count =
    (what: string) =>
    (...labels: string[]): void => {
      counted.push([what, ...labels].join(' '));
    };
  const observer: RouterObserver = {
    accepted: count('accepted'),
    repeated: count('repeated'),
    rejected: count('rejected'),
    filtered: count('filtered'),
    created: count('created'),
  };
  const { take } = createRouter({
    names: { deliveries: 'deliveries', eventsRejected: 'rejected' },
    config: {
      source: (id) => sources.get(id),
      sourceByWriteKey: () => undefined,
      destinationsOf: (sourceId) =>
        ['crm', 'erp'].map((id) => ({
          ...{ id, type: 'Webhooks', enabled: true, sources: [sourceId] },
          settings: { webhooks: [{ url: 'https://crm.example/hook' }] },
        })),
      refresh: () => refresh.promise,
    },
    publisher: {
      publish: (record) =>
        new Promise((resolve, reject) => published.push({ record, acknowledge: resolve, refuse: reject })),
    },
    frames: noRegistry,
    dedupe: createDedupe(),
    observer,
    usage: {
      count: (sourceId, event, filtered) => counted.push(`usage ${sourceId} ${event.type} ${filtered}`),
    },
    waiting: { holds: () => false, park: () => Promise.reject(new Error('nothing waits')) },
    log: { debug: () => undefined, warn: () => undefined },
  });
  return {
    published,
    counted,
    done,
    addSource: (id: string) => sources.set(id, { id, writeKeys: ['wk'], enabled: true }),
    /** What the configuration holds now has reached the router. */
    news() {
      refresh.resolve(undefined);
      refresh = Promise.withResolvers<undefined>();
      return settled();
    },
    send(sourceId: string, userId: string, more: Sent = {}) {
      const { call = {}, isRevoked = () => false, ...fields } = more;
      const offset = nextOffset++;
      const work = {
        ...{ topic: 'events', partition: 0, offset, timestamp: writtenAt },
        get revoked() {
          return isRevoked();
        },
        done: () => done.push(offset),
      };
      take({
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

/** All that can happen without further news or acknowledgements has happened. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

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
    assert.deepEqual(created(), ['created erp'], 'what is acknowledged is counted');
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

  test('at once where it is a repeat', () => {
    const router = startRouter();
    router.addSource('web');
    router.send('web', 'u-1', { call: { messageId: 'm' } });
    router.send('web', 'u-1', { call: { messageId: 'm' } });
    assert.equal(router.published.length, 2);
    assert.deepEqual(router.done, [1]);
    assert.equal(router.counted.at(-1), 'repeated');
  });

  test('not while the process is stopping: whoever reads the partition next repeats it', async () => {
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

describe('what is too large for Kafka', () => {
  test('as a delivery, is rejected, and the other destinations still get theirs', async () => {
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

  test('as a rejected record, is named by its place', async () => {
    const router = startRouter();
    router.send('web', 'u-1', { value: null });
    router.published[0]?.refuse(new TailraceError('record-too-large'));
    await settled();
    const stub = router.published[1];
    assert.deepEqual([stub?.record.key, stub?.record.value], [null, null]);
    assert.equal(stub && headerOf(stub.record, 'origin-offset'), '0');
    stub?.acknowledge();
    await settled();
    assert.deepEqual(router.done, [0]);
  });
});

describe('a source that is not known', () => {
  test('is looked for in the news before its record is rejected', async () => {
    const router = startRouter();
    router.send('web', 'u-1');
    await settled();
    assert.deepEqual(router.keys(), []);
    router.addSource('web');
    await router.news();
    assert.deepEqual(router.keys(), ['crm/u-1', 'erp/u-1']);
  });

  test('is rejected where the news do not have it', async () => {
    const router = startRouter();
    router.send('nobody', 'u-1');
    await router.news();
    assert.equal(router.published[0] && headerOf(router.published[0].record, 'error-code'), 'unknown-source');
  });

  test("holds up later events of its user, and nobody else's", async () => {
    const router = startRouter();
    router.addSource('web');
    router.send('new', 'u-1');
    router.send('web', 'u-1');
    router.send('web', 'u-2');
    router.send('web', 'u-1', { partition: 1 });
    assert.deepEqual(router.keys(), ['crm/u-2', 'erp/u-2', 'crm/u-1', 'erp/u-1']);
    const early = router.published.length;
    router.addSource('new');
    await router.news();
    const late = router.published.slice(early).map(({ record }) => headerOf(record, 'source-id'));
    assert.deepEqual(late, ['new', 'new', 'web', 'web']);
  });

  test('is dropped without a trace where the partition was lost meanwhile', async () => {
    const router = startRouter();
    let revoked = false;
    router.send('web', 'u-1', { isRevoked: () => revoked });
    revoked = true;
    await router.news();
    assert.deepEqual([router.published, router.done, router.counted], [[], [], []]);
  });
});

test('a filtered event counts toward the usage of its source', () => {
  const router = startRouter();
  router.addSource('web');
  router.send('web', 'u-1', { call: { integrations: { All: false } } });
  assert.deepEqual(router.counted, [
    'accepted web page',
    'usage web page false',
    'filtered integrations',
    'filtered integrations',
  ]);
});

test('an event read twice has the same delivery ids and the same bytes', () => {
  const once = (): OutgoingRecord[] => {
    const router = startRouter();
    router.addSource('web');
    router.send('web', 'u-1', { call: { messageId: null } });
    return router.published.map(({ record }) => record);
  };
  const first = once();
  assert.equal(new Set(first.map((record) => headerOf(record, 'delivery-id'))).size, 2);
  assert.deepEqual(once(), first);
});
