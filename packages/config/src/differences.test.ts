import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differencesOf } from './differences.ts';
import type { Destination } from './rules/schema.ts';

const destinationAt = (url: string): Destination => ({
  id: 'crm',
  type: 'Webhooks',
  enabled: true,
  sources: ['web'],
  settings: { sharedSecret: 's3cret', webhooks: [{ url }] },
});

test('entries are copied only where they differ', (context) => {
  const clone = context.mock.method(globalThis, 'structuredClone');
  const [before, after] = [destinationAt('https://a.example/'), destinationAt('https://b.example/')];
  assert.deepEqual(differencesOf(before, destinationAt('https://a.example/')), []);
  assert.equal(clone.mock.callCount(), 0);
  assert.deepEqual(
    differencesOf(before, after).map(({ field }) => field),
    ['settings.webhooks[0].url'],
  );
});
