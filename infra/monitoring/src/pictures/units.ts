/** Writes values as Grafana does, in the unit of their panel. */
import type { Unit } from '../dashboards/dashboard.ts';

export function formatValue(value: number, unit: Unit): string {
  if (!Number.isFinite(value)) return '–';
  switch (unit) {
    case 'percentunit': {
      return `${short(value * 100)} %`;
    }
    case 's':
    case 'dtdurations': {
      return duration(value);
    }
    case 'bytes': {
      return value >= 1_048_576 ? `${short(value / 1_048_576)} MiB` : `${short(value / 1_024)} KiB`;
    }
    case 'reqps': {
      return `${short(value)} req/s`;
    }
    case 'ops': {
      return `${short(value)}/s`;
    }
    case 'short':
    case 'none': {
      return short(value);
    }
  }
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function duration(seconds: number): string {
  if (seconds < 1) return `${short(seconds * 1_000)} ms`;
  if (seconds < 120) return `${short(seconds)} s`;
  return seconds < 7_200 ? `${short(seconds / 60)} min` : `${short(seconds / 3_600)} h`;
}
