import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refreshed } from './newer.ts';

interface Item {
  readonly id: string;
  readonly status?: string;
}

const keyOf = ({ id }: Item): string => id;
const itemsOf = (ids: string): Item[] => Array.from(ids, (id) => ({ id }));

test('what is shown stays in its place with its newest content, and what is new is counted', () => {
  const first = [{ id: 'd' }, { id: 'c', status: 'dead' }, { id: 'b' }];
  assert.deepEqual(refreshed(itemsOf('cba'), { first, isWhole: false }, keyOf), {
    items: [{ id: 'c', status: 'dead' }, { id: 'b' }, { id: 'a' }],
    newer: 1,
    isMoved: false,
  });
});

test('an older item is new only in a list that is one page', () => {
  const [items, first] = [itemsOf('cb'), itemsOf('cba')];
  assert.equal(refreshed(items, { first, isWhole: false }, keyOf).newer, 0);
  assert.equal(refreshed(items, { first, isWhole: true }, keyOf).newer, 1);
  assert.equal(refreshed(items, { first: itemsOf('xyz'), isWhole: false }, keyOf).newer, 3);
});

test('another order is reported, and an item that has left a list of one page', () => {
  const items = itemsOf('abc');
  const isMoved = (ids: string, isWhole: boolean) =>
    refreshed(items, { first: itemsOf(ids), isWhole }, keyOf).isMoved;
  assert.equal(isMoved('bac', true), true);
  assert.equal(isMoved('ab', false), false);
  assert.equal(isMoved('ab', true), true);
});
