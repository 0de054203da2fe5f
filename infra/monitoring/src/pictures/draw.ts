/**
 * Draws a dashboard from the results of its queries, as SVG. It shows what the panels hold where no Grafana is at hand; a line in
 * the picture says that Grafana has not drawn it.
 */
import type { Dashboard, Panel, Thresholds } from '../dashboards/dashboard.ts';
import { placePanels, type Placed } from '../dashboards/layout.ts';
import { formatValue } from './units.ts';

export interface Series {
  readonly name: string;
  /** Times in seconds, and values. */
  readonly points: readonly (readonly [time: number, value: number])[];
}

/** The results of each panel's queries. */
export type Results = ReadonlyMap<Panel, readonly Series[]>;

const column = 50;
const line = 30;
const header = 56;
const colours = ['#3274d9', '#56a64b', '#e0b400', '#e02f44', '#8f3bb8', '#ff780a', '#0a50a1', '#37872d'];
const note = 'Drawn by a test of Tailrace from the results of a real Prometheus. Not drawn by Grafana.';

export function drawDashboard(dashboard: Dashboard, results: Results): string {
  const placed = placePanels(dashboard);
  const height = header + Math.max(...placed.map(({ y, h }) => y + h)) * line;
  const body = placed.map((one) => drawPlaced(one, results)).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="${String(height)}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#f4f5f5"/>
<text x="10" y="24" font-size="18">${escaped(`Tailrace / ${dashboard.title}`)}</text>
<text x="10" y="44" fill="#c4162a">${escaped(note)}</text>
${body}
</svg>
`;
}

function drawPlaced(placed: Placed, results: Results): string {
  const box = { x: placed.x * column, y: header + placed.y * line, w: placed.w * column, h: placed.h * line };
  if (placed.panel === undefined) {
    return `<text x="${String(box.x + 10)}" y="${String(box.y + 20)}" font-weight="bold">${escaped(placed.title)}</text>`;
  }
  return drawPanel(placed.panel, results.get(placed.panel) ?? [], box);
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

function drawPanel(panel: Panel, series: readonly Series[], { x, y, w, h }: Box): string {
  const inner = { x: 8, y: 26, w: w - 20, h: h - 36 };
  const content = {
    stat: () => drawFigure(panel, series, inner),
    lines: () => drawLines(panel, series, inner),
    table: () => drawTable(panel, series, inner),
  }[panel.kind]();
  return `<svg x="${String(x + 2)}" y="${String(y + 2)}" width="${String(w - 4)}" height="${String(h - 4)}">
<rect width="100%" height="100%" fill="#ffffff" stroke="#d8d9da"/>
<text x="8" y="17" fill="#464c54">${escaped(panel.title)}</text>
${content}
</svg>`;
}

function latest({ points }: Series): number {
  return points.at(-1)?.[1] ?? NaN;
}

function drawFigure(
  { unit, thresholds, noValue = 'unknown' }: Panel,
  [first]: readonly Series[],
  box: Box,
): string {
  const value = first ? latest(first) : undefined;
  const fill = value === undefined ? '#8e8e8e' : colourOf(value, thresholds);
  const figure = value === undefined ? noValue : formatValue(value, unit);
  return `<rect x="${String(box.x)}" y="${String(box.y)}" width="${String(box.w)}" height="${String(box.h)}" fill="${fill}"/>
<text x="${String(box.x + box.w / 2)}" y="${String(box.y + box.h / 2 + 9)}" font-size="26" fill="#ffffff" text-anchor="middle">${escaped(figure)}</text>`;
}

function colourOf(value: number, thresholds: Thresholds | undefined): string {
  const [green, yellow, red] = ['#37872d', '#e0b400', '#c4162a'];
  if (!thresholds) return green;
  const { good, warning = thresholds.critical, critical } = thresholds;
  if (good === 'low') return value >= critical ? red : value >= warning ? yellow : green;
  return value < critical ? red : value < warning ? yellow : green;
}

function drawLines({ unit }: Panel, series: readonly Series[], box: Box): string {
  const legendHeight = 14 * Math.min(series.length, 4);
  const plot = { ...box, x: box.x + 56, w: box.w - 56, h: box.h - legendHeight - 8 };
  const points = series.flatMap((one) => one.points);
  const times = points.map(([time]) => time);
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const top = Math.max(...points.map(([, value]) => value).filter(Number.isFinite), 0) || 1;
  const at = ([time, value]: readonly [number, number]): string =>
    `${(plot.x + ((time - from) / (to - from || 1)) * plot.w).toFixed(0)},${(plot.y + plot.h - (value / top) * plot.h).toFixed(0)}`;
  const drawn = series.map(({ points }, index) => {
    const path = points.filter(([, value]) => Number.isFinite(value)).map(at);
    return `<polyline points="${path.join(' ')}" fill="none" stroke="${colour(index)}" stroke-width="1.5"/>`;
  });
  const shown = series.slice(0, 4).map(({ name }, index) => {
    const y = String(box.y + box.h - legendHeight + 12 + index * 14);
    const more = index === 3 && series.length > 4 ? ` and ${String(series.length - 4)} more` : '';
    return `<text x="${String(box.x)}" y="${y}" font-size="10" fill="${colour(index)}">${escaped(`${name}${more}`)}</text>`;
  });
  const axis = [
    [top, plot.y + 8],
    [0, plot.y + plot.h],
  ].map(
    ([value = 0, y = 0]) =>
      `<text x="${String(plot.x - 4)}" y="${String(y)}" font-size="9" fill="#8e8e8e" text-anchor="end">${escaped(formatValue(value, unit))}</text>`,
  );
  return [...axis, ...drawn, ...shown].join('\n');
}

function drawTable({ unit }: Panel, series: readonly Series[], box: Box): string {
  return series
    .slice(0, Math.floor(box.h / 16))
    .map((one, index) => {
      const y = String(box.y + 14 + index * 16);
      return `<text x="${String(box.x)}" y="${y}" font-size="10">${escaped(one.name)}</text>
<text x="${String(box.x + box.w)}" y="${y}" font-size="10" text-anchor="end">${escaped(formatValue(latest(one), unit))}</text>`;
    })
    .join('\n');
}

function colour(index: number): string {
  return colours[index % colours.length] ?? 'black';
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
