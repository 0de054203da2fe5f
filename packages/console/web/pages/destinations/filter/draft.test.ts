import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterDraftOf, filterOf, parseObject } from './draft.ts';

test('a filter passes through its form unchanged', () => {
  const filter = {
    types: ['identify' as const, 'track' as const],
    events: { include: ['Order *'], exclude: ['Order Test'] },
    condition: { any: [{ field: 'properties.total', atLeast: 100 }] },
  };
  assert.deepEqual(filterOf(filterDraftOf(filter)), { ...filter, types: ['track', 'identify'] });
});

test('a form without rules is no filter', () => {
  assert.equal(filterOf(filterDraftOf()), undefined);
  assert.equal(filterOf({ types: [], include: ' \n', exclude: '', condition: '  ' }), undefined);
});

test('a condition that is no object is not read', () => {
  for (const json of ['{', '[]', 'null', '1', '"a"']) assert.equal(parseObject(json), 'not-json', json);
  assert.equal(filterOf({ ...filterDraftOf(), condition: '[]' }), 'not-json');
});
