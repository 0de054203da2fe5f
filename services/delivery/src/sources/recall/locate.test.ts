import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findEndsOf } from './locate.ts';

const requestedAt = '2026-11-22T08:00:00.000Z';
const ends = (...offsets: readonly number[]): ReadonlyMap<number, number> => new Map(offsets.entries());

const deps: Parameters<typeof findEndsOf>[0] = {
  tiers: ['1m', '1h'],
  kafka: {
    ends: (topic) => Promise.resolve(topic === '1m' ? ends(10, 20, 30) : ends(5)),
    offsetsAt: (_topic, time) => Promise.resolve(ends(time - Date.parse(requestedAt))),
  },
  log: { info: () => undefined, warn: () => undefined },
};

test('10.7 a request covers what was before its ends, and nothing in partitions and topics that were added later', async () => {
  const found = await findEndsOf(deps, { requestedAt, ends: { '1m': [7, 20] } });
  assert.deepEqual([found.get('1m'), found.get('1h')], [ends(7, 20, 0), ends(0)]);
});

test('a request covers no offset that a topic does not have yet which was created again', async () => {
  const found = await findEndsOf(deps, { requestedAt, ends: { '1m': [70, 20, 31], '1h': [6] } });
  assert.deepEqual([found.get('1m'), found.get('1h')], [ends(10, 20, 30), ends(5)]);
});

test('a request of an earlier release covers what was written up to its time', async () => {
  const found = await findEndsOf(deps, { requestedAt });
  assert.deepEqual(found.get('1m'), ends(1));
});
