/** What failed attempts leave of their requests and answers, in the records of attempts and in dead letters. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exchangesHeader, type UrlExchange } from '@tailrace/records';
import { simulateTime } from '@tailrace/testing';
import { KeptExchange, targetsOf, type Answer } from '@tailrace/webhook';
import type { UrlResult } from '../delivery.ts';
import { gone, serverError, success } from '../testing/fake-sender.ts';
import { destinationOf, names, newDelivery, Stage } from '../testing/stage.ts';
import { Exchanges } from './exchanges.ts';

const secret = 'Bearer S3CRET-token';
const webhooks = [{ url: 'https://crm.example.com/hook', headers: { Authorization: secret } }];
const crm = destinationOf('crm', { settings: { webhooks } });
const address = '203.0.113.7:443';

/** An answer whose body is `body` so far. */
function answering(
  answer: Answer,
  body: string,
  isWhole = true,
): Answer & { readonly exchange: KeptExchange } {
  const exchange = new KeptExchange(
    { address },
    { 'content-type': 'application/json' },
    { bodyBytes: 1_024 },
  );
  exchange.add(Buffer.from(body));
  if (isWhole) exchange.end(true);
  return { ...answer, exchange };
}

function exchangesIn(text: Buffer | string | undefined): readonly (UrlExchange | null)[] {
  return JSON.parse(String(text ?? 'null')) as UrlExchange[];
}

describe('a failed attempt', () => {
  test('leaves what was sent and answered beside its record and in the dead letter, without secrets', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    sender.onRequest = () => answering(gone, `{"error":"no","got":"${secret}"}`);
    await stage.publish(newDelivery('crm'));
    const [letter] = await stage.records(names.deliveriesDead);
    const [attempt] = await stage.records(names.attempts);
    for (const record of [letter, attempt]) {
      assert.partialDeepStrictEqual(exchangesIn(record?.headers[exchangesHeader]), [
        {
          address,
          requestHeaders: { 'User-Agent': 'Tailrace/1.0', Authorization: '********' },
          responseHeaders: { 'content-type': 'application/json' },
          responseBody: '{"error":"no","got":"********"}',
        },
      ]);
      // Releases before show the other parts to read-only tokens.
      const others = [record?.value, record?.headers['last-answer']].join();
      assert.doesNotMatch(others, /"error"|203\.0\.113/);
    }
  });

  test('has its record when its answer has ended, and its dead letter at once', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    const answer = answering(gone, 'the begin', false);
    sender.onRequest = () => answer;
    await stage.publish(newDelivery('crm'));
    const [letter] = await stage.records(names.deliveriesDead);
    await stage.untilCommitted(1);
    assert.partialDeepStrictEqual(exchangesIn(letter?.headers[exchangesHeader]), [
      { responseBody: 'the begin', omitted: 'rest' },
    ]);
    assert.equal(stage.cluster.records(names.attempts).length, 0);
    answer.exchange.add(Buffer.from('ning'));
    answer.exchange.end(true);
    const [attempt] = await stage.records(names.attempts);
    const [exchange] = exchangesIn(attempt?.headers[exchangesHeader]);
    assert.deepEqual([exchange?.responseBody, exchange?.omitted], ['the beginning', undefined]);
  });

  test('asks for an answer only while answers are kept', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    const { sender } = await stage.startReplica({ env: { TAILRACE_KEEP_ANSWERS: '0' } });
    sender.onRequest = ({ keep }) => (keep ? answering(gone, '{}') : gone);
    await stage.publish(newDelivery('crm'));
    const [letter] = await stage.records(names.deliveriesDead);
    const [attempt] = await stage.records(names.attempts);
    for (const record of [letter, attempt]) assert.equal(record?.headers[exchangesHeader], undefined);
  });
});

test('a delivered attempt leaves no more than before, also where another URL has failed', async () => {
  await using stage = new Stage();
  const both = [...webhooks, { url: 'https://other.example.com/' }];
  await stage.configure({ ...crm, settings: { webhooks: both } });
  const { sender } = await stage.startReplica();
  sender.onRequest = ({ origin }) => (origin.includes('crm') ? answering(serverError, '{}', false) : success);
  await stage.publish(newDelivery('crm'));
  const [attempt] = await stage.records(names.attempts);
  assert.deepEqual({ ...attempt?.headers }, {});
  assert.doesNotMatch(String(attempt?.value), /exchange/);
});

describe('the bytes of a minute', () => {
  const [target] = targetsOf(crm);
  const failed = (body: string): readonly UrlResult[] => {
    assert.ok(target);
    return [{ target, answer: answering(gone, body), latencyMs: 1, requestHeaders: [] }];
  };
  const overLimit = JSON.stringify([{ omitted: 'limit' }]);
  const limit = 4_096;

  /** Writes failures of a destination until one is left out. Returns the bytes that were written. */
  function exhaust(exchanges: Exchanges, destinationId: string): number {
    for (let bytes = 0; ;) {
      const text = exchanges.encode(destinationId, failed('x'.repeat(100)));
      if (text === overLimit) return bytes;
      bytes += Buffer.byteLength(text ?? '');
    }
  }

  test('are limited for each destination, and attempts beyond them say so', () => {
    using _time = simulateTime();
    const exchanges = new Exchanges(limit);
    const bytes = exhaust(exchanges, 'crm');
    assert.ok(bytes > limit / 2 && bytes <= limit, `${bytes} bytes`);
    assert.equal(exchanges.encode('crm', failed('')), overLimit);
    assert.notEqual(exchanges.encode('erp', failed('')), overLimit);
  });

  test('begin again with the next minute', async () => {
    using time = simulateTime();
    const exchanges = new Exchanges(limit);
    exhaust(exchanges, 'crm');
    await time.pass(59_000);
    assert.equal(exchanges.encode('crm', failed('')), overLimit);
    await time.pass(1_000);
    assert.notEqual(exchanges.encode('crm', failed('')), overLimit);
  });

  test('are not spent where nothing is kept', () => {
    assert.ok(target);
    const results = [{ target, answer: gone, latencyMs: 1 }];
    assert.equal(new Exchanges(limit).encode('crm', results), undefined);
  });
});
