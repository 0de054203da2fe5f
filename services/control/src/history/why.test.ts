import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Destination, Source } from '@tailrace/config';
import { readBack, type ConsumedRecord, type Scan } from '@tailrace/kafka';
import { createExplainer } from './why.ts';

const web: Source = {
  id: 'web',
  writeKeys: ['wk_web'],
  enabled: true,
  schema: { track: { blocked: ['Debug Event'] } },
};
const crm: Destination = {
  ...{ id: 'crm', type: 'Webhooks', enabled: true, sources: ['web'] },
  settings: { webhooks: [{ url: 'https://crm.example/hook' }] },
};

/** Explains an event whose call is in `events`, written with these headers. */
async function explain(
  call: object,
  {
    headers = { 'source-id': 'web' },
    source = web,
    destinations = [crm],
  }: { headers?: Record<string, string>; source?: Source; destinations?: readonly Destination[] } = {},
) {
  const record: ConsumedRecord = {
    ...{ topic: 'events', partition: 0, offset: 7, timestamp: 1_800_000_000_000, key: null },
    value: Buffer.from(JSON.stringify({ messageId: 'm-1', userId: 'ada', ...call })),
    ...readBack(headers),
  };
  const explainer = createExplainer({
    kafka: {
      scan: ({ topic }): Promise<Scan> =>
        Promise.resolve({
          ends: new Map(),
          progress: { read: 0, total: 1 },
          close: () => Promise.resolve(),
          [Symbol.asyncIterator]: () =>
            (topic === 'events' ? [[record]] : [])[Symbol.iterator]() as unknown as AsyncIterator<
              ConsumedRecord[]
            >,
        }),
    },
    names: { events: 'events', eventsRejected: 'rejected' },
    config: {
      source: (id) => (id === source.id ? source : undefined),
      sourceByWriteKey: (key) => (source.writeKeys.includes(key) ? source : undefined),
      destinationsOf: () => destinations,
    },
    signal: new AbortController().signal,
  });
  return explainer.explain('m-1', 0);
}

const outcomeOf = async (...given: Parameters<typeof explain>): Promise<string> =>
  (await explain(...given)).outcome;

describe('an event in events that has no deliveries', () => {
  const track = { type: 'track', event: 'Order Completed' };
  const off = { integrations: { All: false } };

  test('is filtered where its integrations turn off all destinations', async () => {
    assert.equal(await outcomeOf({ ...track, ...off }), 'filtered');
  });

  test('is filtered where its source blocks the track event', async () => {
    assert.equal(await outcomeOf({ type: 'track', event: 'Debug Event' }), 'filtered');
  });

  test('is not filtered where it is a delete: integrations do not apply to it', async () => {
    assert.equal(await outcomeOf({ type: 'delete', ...off }), 'not-routed');
  });

  test('has no destination where none is connected to its source', async () => {
    assert.equal(await outcomeOf(track, { destinations: [] }), 'no-destination');
  });

  test('is not routed yet where it would be delivered', async () => {
    const { outcome, accepted } = await explain(track, { headers: { 'write-key': 'wk_web' } });
    assert.equal(outcome, 'not-routed');
    assert.deepEqual(accepted, {
      ...{ partition: 0, offset: 7, at: 1_800_000_000_000, sourceId: 'web', ...track },
    });
  });

  test('is not routed where its source is disabled', async () => {
    const { outcome, explanation } = await explain(track, { source: { ...web, enabled: false } });
    assert.equal(outcome, 'not-routed');
    assert.match(explanation, /its source is disabled/);
  });
});
