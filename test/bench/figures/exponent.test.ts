import assert from 'node:assert/strict';
import test from 'node:test';
import { exponent } from './exponent.ts';

const points = (of: (x: number) => number) => [10, 100, 1_000].map((x) => ({ x, y: of(x) }));

test('the exponent of a power is that power, whatever its factor', () => {
  for (const power of [-1, 0, 0.5, 1, 2]) {
    assert.ok(Math.abs(exponent(points((x) => 7 * x ** power)) - power) < 1e-9);
  }
});

test('an exponent is that of the line with the least squares', () => {
  const found = exponent([
    { x: 1, y: 1 },
    { x: Math.E, y: Math.E },
    { x: Math.E ** 2, y: Math.E },
  ]);
  assert.ok(Math.abs(found - 0.5) < 1e-9);
});

test('points without a logarithm do not count, and one point has no exponent', () => {
  assert.ok(Math.abs(exponent([...points((x) => x), { x: 5, y: 0 }, { x: 5, y: NaN }]) - 1) < 1e-9);
  assert.ok(Number.isNaN(exponent([{ x: 10, y: 3 }])));
});
