/** Durations as operators write them (`10s`, `1m`, `1h`, `250ms`), which are also the names of the retry topics. */
import { parseInstant } from './instant.ts';

const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof unitsMs;

/** Parses a whole number with a unit (ms, s, m, h or d) into milliseconds; undefined where `text` is not a duration. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim());
  if (!match) return undefined;
  return Number(match[1]) * unitsMs[match[2] as Unit];
}

/** Parses a time in ISO 8601, or a duration before `now`, into milliseconds since the epoch; undefined for other texts. */
export function parseMoment(text: string, now: number): number | undefined {
  const agoMs = parseDuration(text);
  return agoMs === undefined ? parseInstant(text) : now - agoMs;
}

/** The shortest exact text of a duration in milliseconds: 60000 is `1m`, 90000 is `90s`. */
export function formatDuration(ms: number): string {
  const largestFirst = Object.entries(unitsMs).reverse();
  const [unit, size] = largestFirst.find(([, size]) => ms >= size && ms % size === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}
