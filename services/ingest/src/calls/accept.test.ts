import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Source } from '@tailrace/config';
import { maxBatchBytes } from '@tailrace/events';
import type { OutgoingRecord } from '@tailrace/kafka';
import { createMetrics } from '@tailrace/service';
import { readJson } from '../http/decode-body.ts';
import { createMemoryBudget } from '../memory/budget.ts';
import { recordsBytes } from '../memory/costs.ts';
import { createIngestMetrics } from '../metrics.ts';
import { createAcceptor, type BatchOutcome } from './accept.ts';
import { createRateLimits } from './rate-limit.ts';

const web: Source = { id: 'web', writeKeys: ['wk_web'], enabled: true };
const mebibyte = 2 ** 20;

interface StoredRecord {
  readonly topic: string;
  readonly json: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Accepted {
  readonly outcome: BatchOutcome;
  readonly records: readonly StoredRecord[];
  /** The most that was waiting for Kafka at the same time, by the costs of records. */
  readonly mostWaitingBytes: number;
  readonly mostReservedBytes: number;
  readonly counts: readonly string[];
}

/** Accepts a batch with a publisher that acknowledges in a later turn, and keeps the first `keep` records. */
async function accept(json: string, keep = Infinity): Promise<Accepted> {
  assert.ok(json.length <= maxBatchBytes, `${json.length} bytes`);
  const records: StoredRecord[] = [];
  let waiting = 0;
  let mostWaitingBytes = 0;
  const publish = async (record: OutgoingRecord): Promise<void> => {
    waiting += recordsBytes([record], 1);
    mostWaitingBytes = Math.max(mostWaitingBytes, waiting);
    if (records.length < keep) {
      const json = String(record.value);
      records.push({ topic: record.topic, json, value: JSON.parse(json) as Record<string, unknown> });
    }
    await nextTurn();
    waiting -= recordsBytes([record], 1);
  };
  const budget = createMemoryBudget(112 * mebibyte);
  const registry = createMetrics({ processMetrics: false });
  const metrics = createIngestMetrics(registry, { publisher: { bufferedBytes: 0 }, memory: budget });
  const acceptor = createAcceptor({
    publisher: { publish },
    names: { events: 'events', eventsRejected: 'events.rejected' },
    rateLimits: createRateLimits(),
    metrics,
  });
  let mostReservedBytes = 0;
  const outcome = await acceptor.batch(
    readJson(Buffer.from(json)),
    { source: web, receivedAt: Date.now() },
    (records, _rejected, textLength = 0) => {
      mostReservedBytes = Math.max(mostReservedBytes, recordsBytes(records, 1) + textLength);
    },
  );
  const counts = (await registry.expose())
    .split('\n')
    .filter((line) => /^tailrace_ingest_(calls|rejected)_\w*total/.test(line) && !line.endsWith(' 0'));
  return { outcome, records, mostWaitingBytes, mostReservedBytes, counts };
}

const trackCall = (n: number): object => ({ type: 'track', userId: 'ada', event: 'e', messageId: `m-${n}` });
const calls = (count: number): object[] => Array.from({ length: count }, (_, n) => trackCall(n));
const context = (length: number): object => ({ app: { name: 'Shop' }, note: 'n'.repeat(length) });

test('a batch of 2,500 calls with a context of 2 KB is accepted, in order, with the context in each event', async () => {
  const { outcome, records } = await accept(JSON.stringify({ batch: calls(2_500), context: context(2_000) }));
  assert.deepEqual(outcome, { accepted: 2_500, rejected: [] });
  assert.deepEqual(
    records.map(({ value }) => value['messageId']),
    Array.from({ length: 2_500 }, (_, n) => `m-${n}`),
  );
  for (const { value } of records) assert.deepEqual(value['context'], context(2_000));
});

test('2,500 calls with a context of 60 KB are accepted in portions of bounded memory', async () => {
  const { outcome, mostWaitingBytes, mostReservedBytes } = await accept(
    JSON.stringify({ batch: calls(2_500), context: context(60_000) }),
    0,
  );
  assert.equal(outcome.accepted, 2_500);
  assert.ok(mostWaitingBytes < 2 * mebibyte, `${mostWaitingBytes} bytes waited`);
  assert.ok(mostReservedBytes >= mostWaitingBytes && mostReservedBytes < 3 * mebibyte);
});

test('a context of numbers that are written longer than they were sent counts with all their digits', async () => {
  const numbers = Array.from({ length: 1_400 }, () => '1e20').join(',');
  const batch = JSON.stringify({ batch: calls(180), context: { n: '#' } }).replace('"#"', `[${numbers}]`);
  const { outcome, mostWaitingBytes } = await accept(batch, 0);
  assert.equal(outcome.accepted, 180);
  assert.ok(mostWaitingBytes < 2 * mebibyte, `${mostWaitingBytes} bytes waited`);
});

test('in portions too, an invalid call is rejected alone, and its own context overrides that of the batch', async () => {
  const batch = calls(2_000);
  batch[0] = { type: 'track', userId: 'ada', messageId: 'm-0', context: { deep: [1] } };
  batch[1_999] = { ...trackCall(1_999), context: { app: 'own' }, properties: { n: 1 } };
  const { outcome, records, counts } = await accept(
    JSON.stringify({ batch, context: context(3_000), sentAt: '2026-01-01' }),
  );
  assert.equal(outcome.accepted, 1_999);
  assert.deepEqual(
    outcome.rejected.map(({ index, messageId, code }) => [index, messageId, code]),
    [[0, 'm-0', 'invalid-call']],
  );
  assert.deepEqual([records.at(-1)?.topic, records.at(-1)?.value], ['events.rejected', batch[0]]);
  assert.deepEqual(records.at(-2)?.value['context'], { ...context(3_000), app: 'own' });
  assert.equal(records.at(-2)?.value['sentAt'], '2026-01-01T00:00:00.000Z');
  assert.ok(
    counts.some((line) => line.endsWith('calls_received_total 2000')),
    counts.join('\n'),
  );
  assert.ok(counts.some((line) => line.endsWith('ingest_calls_total{type="track"} 1999')));
  assert.ok(counts.some((line) => line.endsWith('rejected_total{code="invalid-call"} 1')));
});

test('with a context that no event can contain, every call is rejected with the reason and nothing is stored', async () => {
  const { outcome, records, counts } = await accept(
    JSON.stringify({ batch: calls(1_000), context: context(80_000) }),
  );
  assert.deepEqual([outcome.accepted, outcome.rejected.length, records.length], [0, 1_000, 0]);
  assert.match(outcome.rejected[999]?.message ?? '', /^With the context and integrations of its batch/);
  assert.ok(
    counts.some((line) => line.endsWith('refused_total{code="call-too-large"} 1000')),
    counts.join('\n'),
  );
});

test('numbers keep their digits in portions', async () => {
  const json = `{"batch":[${'{"type":"track","userId":"a","event":"e","properties":{"id":9007199254740993}},'.repeat(
    1_999,
  )}{"type":"track","userId":"a","event":"e"}],"context":{"note":"${'n'.repeat(3_000)}","id":9007199254740995}}`;
  const { records } = await accept(json);
  assert.equal(records.length, 2_000);
  assert.match(records[0]?.json ?? '', /"properties":\{"id":9007199254740993\}/);
  assert.match(records[1_999]?.json ?? '', /"id":9007199254740995\}/);
});
