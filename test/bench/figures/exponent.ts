/** How a figure grows. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * The slope of the least-squares line through the points on logarithmic axes: 0 is constant, 1 linear. Points that have no place
 * on them are left out; NaN with fewer than two.
 */
export function exponent(points: readonly Point[]): number {
  const logs = points
    .filter(({ x, y }) => x > 0 && y > 0)
    .map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const sum = (of: (log: Point) => number): number => logs.reduce((total, log) => total + of(log), 0);
  const [x, y] = [sum((log) => log.x) / logs.length, sum((log) => log.y) / logs.length];
  return sum((log) => (log.x - x) * (log.y - y)) / sum((log) => (log.x - x) ** 2);
}
