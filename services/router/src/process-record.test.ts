/** Orderings that a real broker does not produce on demand; test/integration/router.test.ts has the other tests. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Source } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { readBack, type OutgoingRecord } from '@tailrace/kafka';
import { noRegistry } from '@tailrace/registry';
import { createMessageIds } from './deduplication/message-ids.ts';
import type { RouterMetrics } from './metrics.ts';
import { createProcessor } from './process-record.ts';
import { createReceiver } from './receive-record.ts';
import { createRejecter } from './reject-record.ts';

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

/** A router without Kafka: `send` gives it records; its published records wait to be acknowledged. */
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
  const metrics: RouterMetrics = {
    countRouted: count('routed'),
    countDelivery: count('created'),
    duplicates: { inc: count('duplicate') },
    rejected: {
      inc({ code }) {
        counted.push(`rejected ${code}`);
      },
    },
    filtered: {
      inc({ reason }) {
        counted.push(`filtered ${reason}`);
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
  const processRecord = createProcessor({
    names: { deliveries: 'deliveries' },
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
    frames: noRegistry,
    messageIds: createMessageIds(),
    usage: {
      count: (sourceId, event, filtered) => counted.push(`usage ${sourceId} ${event.type} ${filtered}`),
    },
    ...{ publisher, metrics, rejecter, log },
  });
  const receiveRecord = createReceiver({
    ...{ frames: noRegistry, processRecord, rejecter },
    waiting: { hasKeyOf: () => false, enqueue: () => Promise.reject(new Error('no record waits')) },
  });
  return {
    published,
    counted,
    done,
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
        ...{ topic: 'events', partition: 0, offset, timestamp: writtenAt },
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

  test('delays later events of its user, and no other events', async () => {
    const router = startRouter();
    router.addSource('web');
    router.send('new', 'u-1');
    router.send('web', 'u-1');
    router.send('web', 'u-2');
    router.send('web', 'u-1', { partition: 1 });
    assert.deepEqual(router.keys(), ['crm/u-2', 'erp/u-2', 'crm/u-1', 'erp/u-1']);
    const early = router.published.length;
    router.addSource('new');
    await router.configRead();
    const late = router.published.slice(early).map(({ record }) => headerOf(record, 'source-id'));
    assert.deepEqual(late, ['new', 'new', 'web', 'web']);
  });

  test('is dropped where its partition was revoked meanwhile', async () => {
    const router = startRouter();
    let revoked = false;
    router.send('web', 'u-1', { isRevoked: () => revoked });
    revoked = true;
    await router.configRead();
    assert.deepEqual([router.published, router.done, router.counted], [[], [], []]);
  });
});

test('a filtered event counts toward the usage of its source', () => {
  const router = startRouter();
  router.addSource('web');
  router.send('web', 'u-1', { call: { integrations: { All: false } } });
  assert.deepEqual(router.counted, [
    'routed web page',
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
