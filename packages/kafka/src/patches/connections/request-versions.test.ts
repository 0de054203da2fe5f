import assert from 'node:assert/strict';
import { test } from 'node:test';
import { original, patched } from '../testing/original.ts';
import type { LookUp } from './request-versions.ts';

/** How often the version of a request is chosen for a broker that gets three of its kind. */
function choices(load: typeof original): number {
  let chosen = 0;
  const definition = {
    versions: ['0', '1'],
    protocol: ({ version }: { version: number }) => {
      chosen += 1;
      return (content: unknown) => ({ request: { apiKey: 3 }, version, content });
    },
  };
  const find = (load('protocol/requests') as { lookup: LookUp }).lookup({ 3: { maxVersion: 1 } });
  for (const content of ['a', 'b', 'c']) {
    const { version, content: kept } = find(3, definition)(content) as unknown as {
      version: number;
      content: string;
    };
    assert.deepEqual([version, kept], [1, content]);
  }
  return chosen;
}

test('the version of a request is looked up once for each broker', () => {
  assert.equal(choices(original), 3);
  assert.equal(choices(patched), 1);
});
