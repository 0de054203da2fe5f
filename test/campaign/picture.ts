/** The figures of a campaign as a picture: for each kind of fault how many there were, and the longest waits or times to recover. */
import { distribution } from '../bench/figures/statistics.ts';
import { drawing, text } from '../bench/figures/svg.ts';
import { tenths, whole } from '../bench/figures/table.ts';
import type { Figures } from './report.ts';

const [nameWidth, barWidth, rowHeight, top] = [150, 420, 20, 46];
const width = nameWidth + barWidth + 60;

/** SVG. Where faults were apart the bars are times to recover, else the longest waits. */
export function renderPicture(title: string, { byKind }: Pick<Figures, 'byKind'>): string {
  const isApart = byKind.some(({ recoveriesMs }) => recoveriesMs.length > 0);
  const rows = byKind.map(({ kind, count, waitsMs, recoveriesMs }) => {
    const { p50, max } = distribution(isApart ? recoveriesMs : waitsMs);
    return { label: `${kind} (${whole(count)})`, p50: p50 / 1_000 || 0, max: max / 1_000 || 0 };
  });
  const most = Math.max(1, ...rows.map(({ max }) => max));
  const bars = rows.map(({ label, p50, max }, nth) => {
    const y = top + nth * rowHeight;
    const bar = (seconds: number, colour: string): string =>
      `<rect x="${nameWidth}" y="${y}" width="${((seconds / most) * barWidth).toFixed(1)}" height="${rowHeight - 6}" fill="${colour}"/>`;
    return [
      text(nameWidth - 8, y + 11, 'end', label),
      bar(max, '#b6d4fe'),
      bar(p50, '#1f6feb'),
      text(nameWidth + (max / most) * barWidth + 6, y + 11, 'start', tenths(max)),
    ].join('');
  });
  const what = isApart ? 'Time to recover' : 'Longest wait of an event that was sent during a fault';
  const titles = [text(8, 18, 'start', title), text(8, 34, 'start', `${what}, s: median and maximum`)];
  return drawing(width, top + rows.length * rowHeight + 10, [...titles, ...bars]);
}
