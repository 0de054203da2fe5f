import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { decodeEntry, encodeEntry, type Entry } from './record.ts';

const key = randomBytes(32);
const webhooks = [{ url: 'https://crm.example/' }];
const entries: readonly Entry[] = [
  { kind: 'source', id: 'web', entry: { id: 'web', writeKeys: ['wk_web'], enabled: true } },
  {
    kind: 'destination',
    id: 'crm',
    entry: {
      id: 'crm',
      type: 'Webhooks',
      enabled: true,
      sources: ['web'],
      settings: { sharedSecret: 's3cret', webhooks },
    },
  },
];

test('an entry is read from its record without copying it', (context) => {
  const clone = context.mock.method(globalThis, 'structuredClone');
  for (const entry of entries) {
    const { key: recordKey, value } = encodeEntry('config', entry, key);
    clone.mock.resetCalls();
    const record = { key: Buffer.from(String(recordKey)), value: Buffer.from(String(value)) };
    const decoded = decodeEntry(record, { current: key });
    assert.deepEqual(decoded, { ...entry, stale: false, queries: 'none' });
    assert.equal(clone.mock.callCount(), 0);
  }
});
