/** The sample of refused calls: what is in it, and its bounds. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Source } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import { headerOf } from '@tailrace/kafka/testing';
import { assertAccepted, assertRefused, call, sendTo, type Answer, type Sent } from '../testing/client.ts';
import { openStage, type Stage } from '../testing/stage.ts';
import { createRefusedCalls, refusedSample } from './refused.ts';

describe('the owner of a source can see', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage[Symbol.asyncDispose]());

  const send = (sent: Partial<Sent>): Promise<Answer> =>
    sendTo({ url: stage.url, path: '/v1/track', ...sent });
  const show = (record: ConsumedRecord) => ({
    source: headerOf(record, 'source-id'),
    code: headerOf(record, 'error-code'),
    status: headerOf(record, 'status'),
    type: headerOf(record, 'type'),
    call: record.value?.toString(),
  });

  test('why a call was refused, as it was sent', async () => {
    const json = '{"userId":"ada","properties":{"total":12345678901234567890}}';
    const answer = await send({ bytes: json });
    assertRefused(answer, 400, 'invalid-call');
    const record = await stage.refused.find(({ value }) => value?.toString() === json);
    assert.deepEqual(show(record), {
      source: 'web',
      code: 'invalid-call',
      status: '400',
      type: 'track',
      call: json,
    });
    assert.equal(headerOf(record, 'error-message'), answer.json['message']);
  });

  test('what is no JSON, what is too large, and each call of a batch of which none is valid', async () => {
    const malformed = '{"userId":"ada",}';
    await send({ bytes: malformed });
    await stage.refused.find(({ value }) => value?.toString() === malformed);
    assertRefused(await send({ bytes: `"${'x'.repeat(40_000)}"` }), 413, 'call-too-large');
    await stage.refused.find(({ value, headers }) => value === null && String(headers['status']) === '413');
    const batch = [call({ userId: null }), call({ type: 'teleport' })];
    assertRefused(await send({ path: '/v1/batch', body: { batch } }), 400, 'invalid-call');
    for (const one of batch) {
      await stage.refused.find(({ value }) => value?.toString() === JSON.stringify(one));
    }
  });

  test('no accepted call, and nothing of a request whose key belongs to no source', async () => {
    assertAccepted(await send({ key: 'wk_other', body: call() }));
    assertRefused(await send({ key: 'wk_nobody', bytes: '{' }), 401, 'unknown-write-key');
    await stage.refused.refresh();
    const sources = new Set(stage.refused.items.map((record) => headerOf(record, 'source-id')));
    assert.deepEqual([...sources], ['web']);
  });
});

const source = (id: string): Source => ({ id, writeKeys: [`wk_${id}`], enabled: true });
const invalid = { code: 'invalid-call', message: 'event is required.' } as const;

test('14.11 of a source so many refused calls and bytes a minute are kept, and others have theirs', () => {
  const published: OutgoingRecord[] = [];
  let now = 0;
  const publisher = { publish: (record: OutgoingRecord) => Promise.resolve(void published.push(record)) };
  const refused = createRefusedCalls(publisher, 'rejected', () => now);
  const flood = (call: unknown): number => {
    const before = published.length;
    for (let nth = 0; nth < 1_000; nth += 1) refused.keep(source('web'), invalid, { call });
    return published.length - before;
  };
  assert.equal(flood({}), refusedSample.calls);
  refused.keep(source('app'), invalid, { call: {} });
  assert.equal(published.length, refusedSample.calls + 1);
  now = 60_000;
  published.length = 0;
  const large = { text: 'x'.repeat(100_000) };
  assert.ok(flood(large) > 0);
  const lengths = published.map(({ value }) => value?.length ?? 0);
  assert.ok(Math.max(...lengths) <= refusedSample.bytesOfCall);
  assert.ok(lengths.reduce((sum, length) => sum + length) <= refusedSample.bytes);
});

test('what passes when it is sent again is not kept', () => {
  const published: OutgoingRecord[] = [];
  const publisher = { publish: (record: OutgoingRecord) => Promise.resolve(void published.push(record)) };
  const refused = createRefusedCalls(publisher, 'rejected');
  for (const code of ['rate-limited', 'overloaded', 'kafka-unavailable'] as const) {
    refused.keep(source('web'), new TailraceError(code));
  }
  assert.deepEqual(published, []);
});

test('while Kafka takes nothing, little waits for it', () => {
  let waiting = 0;
  const publisher = {
    publish: () => {
      waiting += 1;
      return new Promise<never>(() => undefined);
    },
  };
  const refused = createRefusedCalls(publisher, 'rejected');
  for (let nth = 0; nth < 10_000; nth += 1) refused.keep(source(`source-${nth}`), invalid, { call: {} });
  assert.equal(waiting, 100);
});
