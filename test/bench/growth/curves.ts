/** What grows: the curves, their points, and what an installation has at each. */

export interface Shape {
  readonly sources: number;
  /** Destinations of each source, which no other source has. */
  readonly fanOut: number;
  /** Deliveries that wait for a retry in an hour. */
  readonly retries: number;
  readonly partitions: number;
  /** Of a call. */
  readonly bodyBytes: number;
}

export interface Curve {
  readonly points: readonly number[];
  /** What differs from the usual. */
  shape(point: number): Partial<Shape>;
}

export const curveNames = ['destinations', 'sources', 'retries', 'partitions', 'body', 'fan-out'] as const;
export type CurveName = (typeof curveNames)[number];

const usual: Shape = { sources: 10, fanOut: 1, retries: 0, partitions: 6, bodyBytes: 1_000 };
const fanOut = 10;

export const curves: Readonly<Record<CurveName, Curve>> = {
  destinations: {
    points: [100, 1_000, 10_000, 100_000],
    shape: (point) => ({ sources: Math.ceil(point / fanOut), fanOut }),
  },
  sources: { points: [10, 100, 1_000, 10_000], shape: (sources) => ({ sources }) },
  retries: { points: [1_000, 10_000, 100_000, 1_000_000], shape: (retries) => ({ retries }) },
  partitions: { points: [6, 12, 24, 48, 96], shape: (partitions) => ({ partitions }) },
  body: { points: [200, 1_000, 4_000, 16_000, 32_000], shape: (bodyBytes) => ({ bodyBytes }) },
  'fan-out': { points: [1, 10, 100, 1_000], shape: (fanOut) => ({ sources: 1, fanOut }) },
};

export function shapeOf(curve: CurveName, point: number): Shape {
  return { ...usual, ...curves[curve].shape(point) };
}
