import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Source } from '@tailrace/config';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import { maxBatchBytes, maxEventBytes, parseJson } from '@tailrace/events';
import type { OutgoingRecord } from '@tailrace/kafka';
import { createMetrics } from '@tailrace/service';
import { simulateTime } from '@tailrace/testing';
import { createMemoryBudget } from '../memory/budget.ts';
import { createIngestMetrics } from '../metrics.ts';
import { createAcceptor, type BatchOutcome } from './accept.ts';
import { createRateLimits } from './rate-limit.ts';

const web: Source = { id: 'web', writeKeys: ['wk_web'], enabled: true };

interface StoredRecord {
  readonly topic: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Accepted {
  readonly outcome: BatchOutcome;
  readonly records: readonly StoredRecord[];
  readonly counts: readonly string[];
}

/** An acceptor that publishes with `publish`, and the values of its counters. */
function openAcceptor(publish: (record: OutgoingRecord) => Promise<void>, sharedCalls = 0) {
  const registry = createMetrics({ processMetrics: false });
  const memory = createMemoryBudget(0);
  const acceptor = createAcceptor({
    publisher: { publish },
    names: { events: 'events', eventsRejected: 'events.rejected' },
    rateLimits: createRateLimits({ sharedCalls }),
    refused: { keep: () => undefined },
    acknowledgeWithinMs: 10_000,
    metrics: createIngestMetrics(registry, { publisher: { bufferedBytes: 0 }, memory }),
  });
  return {
    batch(body: object, source = web) {
      const json = JSON.stringify(body);
      assert.ok(json.length <= maxBatchBytes, `${json.length} bytes`);
      const ip = source.addIp === true ? '203.0.113.7' : undefined;
      const origin = { source, receivedAt: Date.now(), bodyBytes: json.length, ip };
      return acceptor.batch(parseJson(json), origin, () => undefined).then((batch) => batch.publish());
    },
    async counts() {
      return (await registry.expose())
        .split('\n')
        .filter((line) => /^tailrace_ingest_(calls|rejected)_\w*total/.test(line) && !line.endsWith(' 0'));
    },
  };
}

/** Accepts a batch with a publisher that adds each record to `records`. */
async function accept(body: object, source = web, records: StoredRecord[] = []): Promise<Accepted> {
  const acceptor = openAcceptor(async ({ topic, value }) => {
    records.push({ topic, value: JSON.parse(String(value)) as Record<string, unknown> });
    await nextTurn();
  });
  const outcome = await acceptor.batch(body, source);
  return { outcome, records, counts: await acceptor.counts() };
}

const trackCall = (n: number) => ({ type: 'track', userId: 'ada', event: 'e', messageId: `m-${n}` });
const calls = (count: number) => Array.from({ length: count }, (_, n) => trackCall(n));
const context = (length: number): object => ({ app: { name: 'Shop' }, note: 'n'.repeat(length) });

test('2.12 a batch of 500 KB with 2,500 calls and a context of 2 KB is accepted, in order, with the context in each event', async () => {
  const batch = calls(2_500).map((call) => ({ ...call, properties: { text: 'x'.repeat(105) } }));
  const body = { batch, context: context(2_000) };
  const missing = maxBatchBytes - JSON.stringify(body).length;
  const { outcome, records } = await accept({
    ...body,
    padding: 'x'.repeat(missing - ',"padding":""'.length),
  });
  assert.deepEqual(outcome, { accepted: 2_500, rejected: [] });
  assert.deepEqual(
    records.map(({ value }) => value['messageId']),
    Array.from({ length: 2_500 }, (_, n) => `m-${n}`),
  );
  for (const { value } of records) assert.deepEqual(value['context'], context(2_000));
});

test('2.14 an address that ingest adds counts for the size of its event, and for no other limit', async () => {
  const withIp = { ...web, addIp: true };
  const full = { batch: calls(2_500), context: context(2_000) };
  const { outcome, records } = await accept(full, withIp);
  assert.equal(outcome.accepted, 2_500);
  for (const { value } of records) {
    assert.deepEqual(value['context'], { ip: '203.0.113.7', ...context(2_000) });
  }
  const [empty] = (await accept({ batch: calls(1), context: context(0) })).records;
  const largest = maxEventBytes - JSON.stringify(empty?.value).length;
  const sizes = [
    { source: web, length: largest, accepted: 1 },
    { source: withIp, length: largest, accepted: 0 },
    { source: withIp, length: largest - '"ip":"203.0.113.7",'.length, accepted: 1 },
  ];
  for (const { source, length, accepted } of sizes) {
    const { outcome } = await accept({ batch: calls(1), context: context(length) }, source);
    assert.equal(outcome.accepted, accepted, `${length}`);
    if (accepted === 0) assert.equal(outcome.rejected[0]?.code, 'call-too-large');
  }
});

test('2.12 a batch whose context would be copied into 150 MB of events is refused, and nothing is stored', async () => {
  const records: StoredRecord[] = [];
  await assert.rejects(accept({ batch: calls(2_500), context: context(60_000) }, web, records), {
    code: 'batch-too-large',
    message: /context.* Send fewer calls/,
  });
  assert.deepEqual(records, []);
  const { outcome } = await accept({ batch: calls(100), context: context(60_000) });
  assert.equal(outcome.accepted, 100);
});

test('2.12 the events of a batch may have 6,000 KB and no more', async () => {
  const count = 100;
  const body = { batch: calls(count), context: context(60_000), padding: '' };
  const bytes = JSON.stringify(body).length + (count - 1) * JSON.stringify(body.context).length;
  const padded = (more: number): object => ({ ...body, padding: 'x'.repeat(6_000 * 1_024 - bytes + more) });
  assert.equal((await accept(padded(0))).outcome.accepted, count);
  await assert.rejects(accept(padded(1)), { code: 'batch-too-large' });
});

test('14.8 the copies of a context count for the limit of bytes of a source', async () => {
  const slow = { ...web, rateLimitBytes: 1_000_000 };
  await assert.rejects(accept({ batch: calls(50), context: context(60_000) }, slow), {
    code: 'rate-limited',
    retryAfterS: 4,
  });
  const { outcome } = await accept({ batch: calls(16), context: context(60_000) }, slow);
  assert.equal(outcome.accepted, 16);
});

test('with a context that no event can contain, every call is rejected with the reason and nothing is stored', async () => {
  const { outcome, records, counts } = await accept({ batch: calls(50), context: context(80_000) });
  assert.deepEqual([outcome.accepted, outcome.rejected.length, records.length], [0, 50, 0]);
  assert.match(outcome.rejected[49]?.message ?? '', /^With the context and integrations of its batch/);
  assert.ok(
    counts.some((line) => line.endsWith('refused_total{code="call-too-large"} 50')),
    counts.join('\n'),
  );
});

test('large batches of one source let the calls and the large batches of others pass', async () => {
  using time = simulateTime();
  const published: string[] = [];
  const acceptor = openAcceptor(({ key }) => {
    if (published.at(-1) !== key) published.push(String(key));
    return time.after(1);
  });
  const batchOf = (userId: string, count: number): object => ({
    batch: calls(count).map((call) => ({ ...call, userId })),
    context: context(20_000),
  });
  const large = ['a', 'b', 'c'].map((user) => acceptor.batch(batchOf(user, 120)));
  const other = { ...web, id: 'other' };
  const others = [
    acceptor.batch(batchOf('other-small', 2), other),
    acceptor.batch(batchOf('other-large', 50), other),
  ];
  await time.settled(Promise.all([...large, ...others]));
  assert.deepEqual(published.slice(0, 3), ['other-small', 'a', 'other-large']);
});

test('large batches are spread over the time that they take at the limit while other sources send, and over a second at most', async () => {
  using time = simulateTime();
  const start = Date.now();
  const publishedAt: number[] = [];
  const acceptor = openAcceptor(({ key }) => {
    if (key === 'ada') publishedAt.push(Date.now() - start);
    return Promise.resolve();
  }, 2_000);
  const batch = calls(1_000).map((call) => ({ ...call, properties: { note: 'x'.repeat(300) } }));
  const publish = async (source: Source): Promise<number> => {
    publishedAt.length = 0;
    await time.settled(acceptor.batch({ batch }, source));
    return (publishedAt.at(-1) ?? NaN) - (publishedAt[0] ?? NaN);
  };

  assert.equal(await publish(web), 0, 'alone');
  await acceptor.batch({ batch: [{ ...trackCall(1), userId: 'other' }] }, { ...web, id: 'other' });
  const lastMs = await publish(web);
  assert.ok(lastMs > 400 && lastMs < 500, `${lastMs}`);
  const [firstMs = NaN] = publishedAt;
  for (const [index, at] of publishedAt.entries()) {
    // At most a portion of 16 KB before its time.
    assert.ok(index <= 2 * (at - firstMs) + 40, `record ${index} after ${at - firstMs} ms`);
  }
  const slowMs = await publish({ ...web, id: 'slow', rateLimit: 1_000, rateLimitBytes: 500_000 });
  assert.ok(slowMs > 800 && slowMs < 1_000, `${slowMs}`);
});

test('a large batch does not wait for a slow Kafka once for each small portion', async () => {
  using time = simulateTime();
  const acceptor = openAcceptor(() => time.after(300), 2_000);
  const batch = calls(1_000).map((call) => ({ ...call, properties: { note: 'x'.repeat(300) } }));
  await time.settled(acceptor.batch({ batch: [trackCall(1)] }, { ...web, id: 'other' }));
  const start = Date.now();
  assert.equal((await time.settled(acceptor.batch({ batch }, web))).accepted, 1_000);
  // 31 portions of 16 KB would take over nine seconds.
  const simulatedMs = Date.now() - start;
  assert.ok(simulatedMs < 2_500, `${simulatedMs}`);
});

test('batches that a source may send do not wait longer and longer, although they become larger in Kafka', async () => {
  using time = simulateTime();
  const acceptor = openAcceptor(() => Promise.resolve(), 2_000);
  const body = { batch: Array.from({ length: 400 }, () => ({ type: 'track', event: 'e', userId: 'ada' })) };
  const perSecond = 10;
  const rateLimitBytes = perSecond * JSON.stringify(body).length;
  const busy = { ...web, id: 'busy', rateLimit: 100_000, rateLimitBytes };
  const accepted: Promise<unknown>[] = [];
  for (let second = 0; second < 30; second += 1) {
    await acceptor.batch({ batch: [trackCall(1)] }, { ...web, id: 'other' });
    for (let nth = 0; nth < perSecond; nth += 1) accepted.push(acceptor.batch(body, busy));
    await time.pass(1_000);
  }
  const outcomes = await time.settled(Promise.allSettled(accepted));
  assert.ok(outcomes.every(({ status }) => status === 'fulfilled'));
});

test('a batch that has waited too long for its turn is refused, and nothing of it is published', async () => {
  using time = simulateTime();
  const users: (string | undefined)[] = [];
  const acceptor = openAcceptor(async ({ key }) => {
    users.push(key?.toString());
    await time.after(11_000);
    throw new TailraceError('kafka-unavailable');
  });
  const batches = ['a', 'b', 'c', 'd'].map((userId) =>
    acceptor.batch({ batch: [{ ...trackCall(1), userId }, trackCall(2)], context: context(60_000) }),
  );
  const outcomes = await time.settled(Promise.allSettled(batches));
  assert.deepEqual(
    outcomes.map(
      (outcome) => outcome.status === 'rejected' && isTailraceError(outcome.reason, 'kafka-unavailable'),
    ),
    [true, true, true, true],
  );
  assert.deepEqual(users, ['a', 'ada', 'b', 'ada']);
});
