import assert from 'node:assert/strict';
import test from 'node:test';
import { readBack, type ConsumedRecord, type OutgoingRecord } from '@tailrace/kafka';
import { encodeRecallState, type RecallMark, type RecallState } from '@tailrace/records';
import { openLedger } from './ledger.ts';

const markTo = (to: number): RecallMark => ({
  topic: 'deliveries.retry.1h',
  from: 0,
  end: 100,
  to,
  through: null,
  except: [],
  at: 1_000,
});
const stateTo = (...to: readonly number[]): RecallState => ({
  destinationId: 'crm',
  partition: 2,
  marks: to.map(markTo),
});

/** A ledger with a simulated topic. */
async function open() {
  const written: OutgoingRecord[] = [];
  let hear: (record: ConsumedRecord) => void = () => undefined;
  const follow = (options: { readonly onRecord: typeof hear }) => {
    hear = options.onRecord;
    const done = (): Promise<void> => Promise.resolve();
    return Promise.resolve({ healthy: true, ageMs: 0, refresh: done, close: done });
  };
  const publish = (record: OutgoingRecord): Promise<void> => {
    written.push(record);
    return Promise.resolve();
  };
  const log = { warn: () => undefined };
  const ledger = await openLedger({ follow }, { publish }, 'recalls', log);
  const bytesOf = (text: OutgoingRecord['key']): Buffer | null => (text === null ? null : Buffer.from(text));
  return {
    ledger,
    written,
    hear: (state: RecallState): void => {
      const { key, value } = encodeRecallState('recalls', state);
      const place = { topic: 'recalls', partition: 0, offset: 0, timestamp: 0 };
      hear({ ...place, ...readBack(), key: bytesOf(key), value: bytesOf(value) });
    },
    isFinished: (offset: number): boolean =>
      ledger.isFinished(
        'crm',
        { topic: 'deliveries.retry.1h', partition: 2, offset, timestamp: 0 },
        undefined,
      ),
  };
}

test('the marks of an earlier owner apply', async () => {
  const { hear, isFinished } = await open();
  hear(stateTo(10));
  assert.deepEqual([isFinished(9), isFinished(10)], [true, false]);
  hear(stateTo(20));
  assert.ok(isFinished(10));
  hear(stateTo());
  assert.ok(!isFinished(9));
});

test('while the partition is owned, records of the topic do not replace its state', async () => {
  const { ledger, written, hear, isFinished } = await open();
  hear(stateTo(10));
  const owned = { revoked: false };
  await ledger.put(stateTo(20), owned);
  assert.deepEqual(written, [encodeRecallState('recalls', stateTo(20))]);
  hear(stateTo(10));
  assert.ok(isFinished(15));
  await ledger.put(stateTo(), owned);
  hear(stateTo(20));
  assert.ok(!isFinished(15));
  owned.revoked = true;
  hear(stateTo(30));
  assert.ok(isFinished(25));
});
