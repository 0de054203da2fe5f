import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyHash, WaitingKeys } from './keys.ts';

const hashOf = (source: string, key: string): number => keyHash({ source, key: Buffer.from(key) });

test('a source with more waiting keys than are known waits as a whole, and others do not', () => {
  const keys = new WaitingKeys(2);
  for (const key of ['u-1', 'u-2', 'u-3']) keys.add(hashOf('web', key), 1);
  assert.ok(keys.has(hashOf('web', 'u-3')));
  assert.ok(keys.has(hashOf('web', 'u-4')));
  assert.ok(!keys.has(hashOf('app', 'u-1')));
  keys.clear();
  assert.ok(keys.isEmpty && !keys.has(hashOf('web', 'u-4')));
});
