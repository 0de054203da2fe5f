import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Source } from '@tailrace/config';
import { lookUpSource, sourceReference, type SourceReference } from './index.ts';

function headers(texts: Record<string, string>): Record<string, Buffer> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]));
}

describe('16.3 the source that a record names', () => {
  const call = { type: 'page', userId: 'u-1' };
  const withField = { ...call, writeKey: 'wk_field' };
  const cases: [title: string, headers: Record<string, string>, call: unknown, expected?: SourceReference][] =
    [
      ['is in the header source-id', { 'source-id': 'web' }, call, { by: 'id', value: 'web' }],
      ['is in the header write-key', { 'write-key': 'wk_1' }, call, { by: 'write-key', value: 'wk_1' }],
      ['is in the field writeKey', {}, withField, { by: 'write-key', value: 'wk_field' }],
      [
        'is taken from source-id before write-key',
        { 'write-key': 'wk_1', 'source-id': 'web' },
        withField,
        { by: 'id', value: 'web' },
      ],
      [
        'is taken from write-key before the field',
        { 'write-key': 'wk_1' },
        withField,
        { by: 'write-key', value: 'wk_1' },
      ],
      [
        'is not taken from empty headers',
        { 'source-id': '', 'write-key': '' },
        withField,
        { by: 'write-key', value: 'wk_field' },
      ],
      ['is undefined where the call has no writeKey', {}, call],
      ['is undefined where writeKey is empty', {}, { writeKey: '' }],
      ['is undefined where writeKey is not a string', {}, { writeKey: 7 }],
      ['is undefined where the call is null', {}, null],
      ['is undefined where the call is an array', {}, []],
    ];
  for (const [title, texts, value, expected] of cases) {
    test(title, () => {
      assert.deepEqual(sourceReference(headers(texts), value), expected);
    });
  }
});

describe('the lookup of a source', () => {
  const web: Source = { id: 'web', writeKeys: ['wk_web'], enabled: true };
  const old: Source = { id: 'old', writeKeys: ['wk_old'], enabled: false };
  const config = {
    source: (id: string) => [web, old].find((source) => source.id === id),
    sourceByWriteKey: (key: string) => [web, old].find(({ writeKeys }) => writeKeys.includes(key)),
  };

  test('finds an enabled source by id and by write key', () => {
    const found = { outcome: 'enabled', source: web };
    assert.deepEqual(lookUpSource({ by: 'id', value: 'web' }, config), found);
    assert.deepEqual(lookUpSource({ by: 'write-key', value: 'wk_web' }, config), found);
  });

  test('reports a disabled source', () => {
    const found = { outcome: 'disabled', source: old };
    assert.deepEqual(lookUpSource({ by: 'write-key', value: 'wk_old' }, config), found);
  });

  test('does not take an id for a write key', () => {
    assert.deepEqual(lookUpSource({ by: 'write-key', value: 'web' }, config), { outcome: 'unknown' });
    assert.deepEqual(lookUpSource({ by: 'id', value: 'wk_web' }, config), { outcome: 'unknown' });
  });
});
