import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxViews, readViews, withoutView, withView, type View } from './views.ts';

const dead: View = { page: 'deliveries', name: 'Dead', query: { status: 'dead' } };

test('a view replaces the one of its name, on its page only', () => {
  const other = { ...dead, page: 'filtered' };
  const newer = { ...dead, query: { status: 'retrying' } };
  const views = withView(withView([dead], other), newer);
  assert.deepEqual(views, [other, newer]);
  assert.deepEqual(withoutView(views, dead), [other]);
});

test('a page has so many views at most, and a name so many characters', () => {
  let views: readonly View[] = [];
  for (let nth = 0; nth <= maxViews; nth += 1) views = withView(views, { ...dead, name: `view ${nth}` });
  assert.equal(views.length, maxViews);
  assert.equal(withView([], { ...dead, name: 'x'.repeat(100) })[0]?.name.length, 60);
});

test('what is stored is read, and anything else that may be there is left out', () => {
  const odd = [null, 1, {}, { ...dead, query: { since: 1 } }, { ...dead, query: null }, { ...dead, name: 1 }];
  assert.deepEqual(readViews(JSON.stringify([dead, ...odd])), [dead]);
  assert.deepEqual(readViews('{}'), []);
});
