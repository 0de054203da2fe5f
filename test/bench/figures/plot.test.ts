import assert from 'node:assert/strict';
import test from 'node:test';
import { renderPlot } from './plot.ts';

const points = (...ys: number[]) => ys.map((y, nth) => ({ x: 10 ** (nth + 1), y }));
const plot = renderPlot('destinations', [
  { title: 'start, s', lines: { router: points(1, 10, 100), ingest: points(3, NaN, 99) } },
]);

test('a figure that grows as a power is a straight line', () => {
  const [, line = ''] = /<polyline points="([^"]+)"/.exec(plot) ?? [];
  const places = [...plot.matchAll(/<polyline points="([^"]+)"/g)].map(([, found = '']) =>
    found.split(' ').map((place) => place.split(',').map(Number)),
  );
  assert.ok(line);
  const straight = places.find((its) => its.length === 3);
  const [[x0 = NaN, y0 = NaN] = [], [x1 = NaN, y1 = NaN] = [], [x2 = NaN, y2 = NaN] = []] = straight ?? [];
  assert.ok(Math.abs(x1 - x0 - (x2 - x1)) < 0.2 && Math.abs(y1 - y0 - (y2 - y1)) < 0.2);
  assert.ok(y2 < y1);
});

test('names of lines that end at the same place stand below each other', () => {
  const heightOf = (name: string): number =>
    Number(new RegExp(`y="([\\d.]+)"[^>]*>${name}<`).exec(plot)?.[1]);
  assert.ok(Math.abs(heightOf('router') - heightOf('ingest')) >= 12);
});
