/** Line charts with logarithmic axes, as SVG. */
import type { Point } from './exponent.ts';
import { drawing, text } from './svg.ts';
import { whole } from './table.ts';

/** A chart of figures in one unit. */
export interface Panel {
  readonly title: string;
  readonly lines: Readonly<Record<string, readonly Point[]>>;
}

const [width, height] = [380, 300];
const [left, right, top, bottom] = [56, 80, 34, 44];
const colours = ['#1f6feb', '#cf222e', '#1a7f37', '#9a6700', '#8250df'];

/** The panels beside each other. Names and titles are not escaped. */
export function renderPlot(xTitle: string, panels: readonly Panel[]): string {
  const parts = panels.map(
    (one, nth) => `<g transform="translate(${nth * width})">${panel(one, xTitle)}</g>`,
  );
  return drawing(panels.length * width, height, parts);
}

function panel({ title, lines }: Panel, xTitle: string): string {
  const shown = Object.entries(lines).map(
    ([name, points]) => [name, points.filter(({ y }) => y > 0)] as const,
  );
  const points = shown.flatMap(([, its]) => its);
  const xs = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b);
  const decades = points.map(({ y }) => Math.log10(y));
  const [low, high] = [Math.floor(Math.min(...decades)), Math.floor(Math.max(...decades)) + 1];
  const scale = (value: number, from: number, to: number): number => (value - from) / (to - from || 1);
  const [least, most] = [Math.log(xs[0] ?? 1), Math.log(xs.at(-1) ?? 1)];
  const xOf = (x: number): number => left + scale(Math.log(x), least, most) * (width - left - right);
  const yOf = (y: number): number =>
    height - bottom - scale(Math.log10(y), low, high) * (height - top - bottom);

  const ticks =
    points.length === 0 ? [] : Array.from({ length: high - low + 1 }, (_, nth) => 10 ** (low + nth));
  const grid = ticks.map(
    (y) =>
      `<path d="M${left} ${yOf(y)}H${width - right}" stroke="#d0d7de"/>` +
      text(left - 6, yOf(y) + 4, 'end', y < 1 ? String(y) : whole(y)),
  );
  const below = xs.map((x) => text(xOf(x), height - bottom + 16, 'middle', whole(x)));
  // The names stand at the ends of their lines, at least a line of text apart.
  let lowest = Infinity;
  const drawn = shown
    .map(([name, its], nth) => ({ name, its, colour: colours[nth % colours.length] ?? '' }))
    .sort((a, b) => (a.its.at(-1)?.y ?? 0) - (b.its.at(-1)?.y ?? 0))
    .flatMap(({ name, its, colour }) => {
      const last = its.at(-1);
      if (!last) return [];
      lowest = Math.min(yOf(last.y) + 4, lowest - 12);
      const path = its.map(({ x, y }) => `${xOf(x).toFixed(1)},${yOf(y).toFixed(1)}`).join(' ');
      return [
        `<polyline points="${path}" stroke="${colour}" stroke-width="2"/>` +
          text(width - right + 6, lowest, 'start', name, colour),
      ];
    });
  const titles = [text(left, 20, 'start', title), text(width / 2, height - 8, 'middle', xTitle)];
  return [...titles, ...grid, ...below, ...drawn].join('\n');
}
