import assert from 'node:assert/strict';
import { test } from 'node:test';
import '../library.ts';
import { loadPatched, replacing } from './apply.ts';

test('a module that was loaded before its patch is an error', () => {
  const late = replacing('protocol/requests/index', (exports: object) => exports);
  assert.throws(() => loadPatched([late]), /protocol\/requests\/index was loaded before its patch/);
});
