import assert from 'node:assert/strict';
import test from 'node:test';
import {
  decodeRecall,
  encodeRecallRequest,
  encodeRecallState,
  isMarked,
  type RecallMark,
  type RecallRequest,
} from './recall.ts';

const mark: RecallMark = {
  topic: 'deliveries.retry.1h',
  from: 10,
  end: 100,
  to: 50,
  through: 7,
  except: [12],
  at: 1_000,
};
const bytesOf = (text: unknown): Buffer | null => (text === null ? null : Buffer.from(text as string));

test('a request and a state are decoded unchanged', () => {
  const request: RecallRequest = {
    id: 'r-1',
    kind: 'drain',
    destinationId: 'a/b',
    partitions: 6,
    requestedAt: '2026-11-22T08:00:00.000Z',
  };
  const state = {
    destinationId: 'a/b',
    partition: 4,
    marks: [mark],
    request: { id: 'r-1', state: 'running', count: 3 },
  } as const;
  for (const [record, expected] of [
    [encodeRecallRequest('recalls', request), { kind: 'request', request }],
    [encodeRecallState('recalls', state), { kind: 'state', state }],
  ] as const) {
    assert.deepEqual(decodeRecall({ key: bytesOf(record.key), value: bytesOf(record.value) }), expected);
  }
});

test('an empty state is a tombstone', () => {
  const state = { destinationId: 'crm', partition: 4, marks: [] };
  const { key, value } = encodeRecallState('recalls', state);
  assert.equal(value, null);
  assert.deepEqual(decodeRecall({ key: bytesOf(key), value: null }), {
    kind: 'state',
    state: { ...state, request: undefined },
  });
});

test('a record of another program is ignored', () => {
  for (const [key, value] of [
    ['request/crm', '{"requestedAt":"soon"}'],
    ['request/crm', 'null'],
    ['request/crm', null],
    ['state/4/crm', '{'],
    ['state/4/crm', 'null'],
    ['other', '{}'],
    [null, null],
  ] as const) {
    assert.equal(decodeRecall({ key: bytesOf(key), value: bytesOf(value) }), undefined);
  }
});

test('a mark covers finished records of its topic, and none that were written after it', () => {
  const record = { topic: mark.topic, offset: 20, timestamp: 1_000 };
  const isCovered = (more: Partial<typeof record>, sequence?: number, other: Partial<RecallMark> = {}) =>
    isMarked({ ...mark, ...other }, { ...record, ...more }, sequence);
  assert.ok(isCovered({}));
  for (const more of [
    { topic: 'deliveries.retry.1m' },
    { offset: 9 },
    { offset: 12 },
    { offset: 50 },
    { timestamp: 1_001 },
  ]) {
    assert.ok(!isCovered(more), JSON.stringify(more));
  }
  // For ordered deliveries, the sequence counts.
  assert.ok(isCovered({ offset: 99 }, 7));
  assert.ok(!isCovered({ offset: 100 }, 7));
  assert.ok(!isCovered({}, 8));
  assert.ok(isCovered({}, 8, { through: null }));
});
