/** Where the rows and panels of a dashboard are, on the 24 columns of Grafana. */
import type { Dashboard, Panel } from './dashboard.ts';

const sizes = { stat: { w: 4, h: 4 }, lines: { w: 8, h: 8 }, table: { w: 8, h: 8 } } as const;

export interface Placed {
  readonly title: string;
  /** Undefined for the title of a row. */
  readonly panel?: Panel;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export function placePanels({ rows }: Dashboard): Placed[] {
  const placed: Placed[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    placed.push({ title, x: 0, y, w: 24, h: 1 });
    y += 1;
    let x = 0;
    let lineHeight = 0;
    for (const panel of panels) {
      const { w: usual, h } = sizes[panel.kind];
      const w = panel.width ?? usual;
      if (x + w > 24) {
        [x, y, lineHeight] = [0, y + lineHeight, 0];
      }
      placed.push({ title: panel.title, panel, x, y, w, h });
      x += w;
      lineHeight = Math.max(lineHeight, h);
    }
    y += lineHeight;
  }
  return placed;
}
