import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hrefOf, parsePlace } from './location.ts';

test('a place survives its address, with any characters in its steps and values', () => {
  const steps = ['sources', 'a/b?c#d', '100 %'];
  const query = { event: 'Größe & <b>', user: '#1' };
  assert.deepEqual(parsePlace(hrefOf(steps, query)), { steps, query });
});

test('values that are not given are not in the address', () => {
  assert.equal(hrefOf(['deliveries'], { status: undefined, event: '', limit: 5 }), '#/deliveries?limit=5');
});

test('a damaged or empty address is a place', () => {
  assert.deepEqual(parsePlace(''), { steps: [], query: {} });
  assert.deepEqual(parsePlace('#/a%2/b'), { steps: ['a%2', 'b'], query: {} });
});
