import assert from 'node:assert/strict';
import test from 'node:test';
import { countOf, table } from './table.ts';

test('columns are as wide as their widest cell, without blanks at the end', () => {
  const rows = [
    ['NAME', 'COUNT', 'NOTE'],
    ['crm', '1,200', ''],
    ['warehouse', '7', 'slow'],
  ];
  assert.deepEqual(table(rows), ['NAME       COUNT  NOTE', 'crm        1,200', 'warehouse  7      slow']);
  assert.deepEqual(table([]), []);
});

test('what would steer a terminal is shown, not obeyed', () => {
  assert.deepEqual(table([['a\u001b[2Jb\nc\u009b1m']]), ['a\\u001b[2Jb\\u000ac\\u009b1m']);
});

test('counts are readable', () => {
  assert.equal(countOf(1, 'dead letter'), '1 dead letter');
  assert.equal(countOf(1_200, 'dead letter'), '1,200 dead letters');
  assert.equal(countOf(2, 'delivery'), '2 deliveries');
  assert.equal(countOf(2, 'day'), '2 days');
});
