import assert from 'node:assert/strict';
import test from 'node:test';
import { countOf, jsonText, table } from './table.ts';

test('a column is as wide as its widest cell, and lines have no trailing spaces', () => {
  const rows = [
    ['NAME', 'COUNT', 'NOTE'],
    ['crm', '1,200', ''],
    ['warehouse', '7', 'slow'],
  ];
  assert.deepEqual(table(rows), ['NAME       COUNT  NOTE', 'crm        1,200', 'warehouse  7      slow']);
  assert.deepEqual(table([]), []);
});

test('control characters are escaped', () => {
  assert.deepEqual(table([['a\u001b[2Jb\nc\u009b1m']]), ['a\\u001b[2Jb\\u000ac\\u009b1m']);
});

test('JSON has control characters as escapes', () => {
  const value = { text: 'a\u009b2J\u0007\n' };
  assert.equal(jsonText(value), '{"text":"a\\u009b2J\\u0007\\n"}');
  assert.deepEqual(JSON.parse(jsonText(value, 2)), value);
});

test('counts have thousands separators and the plural of the noun', () => {
  assert.equal(countOf(1, 'dead letter'), '1 dead letter');
  assert.equal(countOf(1_200, 'dead letter'), '1,200 dead letters');
  assert.equal(countOf(2, 'delivery'), '2 deliveries');
  assert.equal(countOf(2, 'day'), '2 days');
});
