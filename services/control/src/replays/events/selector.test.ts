import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Destination } from '@tailrace/config';
import type { ConsumedRecord } from '@tailrace/kafka';
import { noRegistry } from '@tailrace/registry';
import { createSelector } from './selector.ts';

const dayMs = 86_400_000;
const now = Date.now();
const crm = {
  id: 'crm',
  type: 'Webhooks',
  enabled: true,
  sources: ['web'],
  settings: { webhooks: [{ url: 'https://crm.example.com/' }] },
} as unknown as Destination;
const source = { id: 'web', enabled: true, writeKeys: ['wk_web_0123'] };

function eventOf(daysAgo: number): ConsumedRecord {
  const call = { type: 'track', event: 'Order', userId: 'ada', messageId: `m-${daysAgo}` };
  return {
    topic: 'events',
    partition: 0,
    offset: 0,
    timestamp: now - daysAgo * dayMs,
    key: Buffer.from('ada'),
    value: Buffer.from(JSON.stringify(call)),
    headers: { 'source-id': Buffer.from('web') },
    headerList: [['source-id', Buffer.from('web')]],
  };
}

test('an event of a user who was deleted after it is not selected, however long Kafka has kept it', () => {
  const select = createSelector(
    {
      config: {
        source: () => source,
        sourceByWriteKey: () => undefined,
        destination: () => crm,
        destinationsOf: () => [crm],
        disabledDestinationsOf: () => [],
      },
      frames: noRegistry,
      users: {
        isSuppressed: () => false,
        deletions: 1,
        deletionsOf: () => [{ at: now - 3 * dayMs, before: undefined }],
      },
    },
    { destinationId: 'crm', from: now - 60 * dayMs, until: now, mode: 'missing' },
  );
  const outcomes = [1, 5, 20, 50].map((daysAgo) => select(eventOf(daysAgo)).outcome);
  assert.deepEqual(outcomes, ['selected', 'other', 'other', 'other']);
});
