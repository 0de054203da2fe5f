/**
 * Encodes which records above a committed offset are finished. The text is stored in the metadata of the committed offset,
 * so that a slow record does not cause all finished records behind it to be repeated after a crash.
 *
 * Formats, both in base64:
 *
 * - `f1:` the lengths of runs of offsets as variable-length integers. Runs alternate between unfinished and finished, beginning
 *   with an unfinished run at the committed offset.
 * - `f2:` a bit for each offset from the committed one on, lowest bit first. Only where the runs do not fit: the release before
 *   does not know it, and repeats.
 */
import type { Run } from './watermark.ts';

/** Offsets from `from` (inclusive) to `to` (exclusive). */
export interface OffsetRange {
  readonly from: number;
  readonly to: number;
}

const [runsPrefix, bitsPrefix] = ['f1:', 'f2:'];
/** The broker's default for `offset.metadata.max.bytes` is 4,096. */
const maxTextLength = 4_000;
const maxBytes = Math.floor(((maxTextLength - runsPrefix.length) * 3) / 4) - 3;
const maxBits = maxBytes * 8;

/**
 * Leaves out the highest offsets if the text would be too long for Kafka. These may be repeated.
 *
 * @param window runs in the order of their offsets, of which the first is unfinished
 */
export function encodeProgress(window: Iterable<Run>): string {
  const runs = namedRuns(window);
  const lengths = lengthsOf(runs);
  const start = runs[0]?.offset ?? 0;
  const bitsEnd = start + maxBits;
  if (lengths.end >= Math.min(bitsEnd, runs.at(-1)?.to ?? 0)) return textOf(runsPrefix, lengths.bytes);
  return textOf(bitsPrefix, bitsOf(runs, start, bitsEnd));
}

/** Those that one of the formats may have room for. */
function namedRuns(window: Iterable<Run>): readonly Run[] {
  const runs: Run[] = [];
  let changes = 0;
  for (const run of window) {
    if (run.finished !== runs.at(-1)?.finished) changes += 1;
    if (changes > maxBytes && run.offset - (runs[0]?.offset ?? 0) >= maxBits) break;
    runs.push(run);
  }
  return runs;
}

/** Up to the offset `end`. */
function lengthsOf(runs: readonly Run[]): { readonly bytes: readonly number[]; readonly end: number } {
  const bytes: number[] = [];
  let finished = false;
  let runLength = 0;
  let next: number | undefined;
  for (const run of runs) {
    const gap = next === undefined ? 0 : run.offset - next;
    const length = run.to - run.offset;
    next = run.to;
    if (run.finished === finished) {
      runLength += gap + length;
      continue;
    }
    if (bytes.length > maxBytes - 10) {
      if (finished) pushVarint(bytes, runLength);
      return { bytes, end: run.offset };
    }
    // A gap is added to the run before it: it has no records that could be repeated.
    pushVarint(bytes, runLength + gap);
    finished = run.finished;
    runLength = length;
  }
  if (finished) pushVarint(bytes, runLength);
  return { bytes, end: next ?? 0 };
}

function bitsOf(runs: readonly Run[], start: number, end: number): Uint8Array {
  const bits = new Uint8Array(maxBytes);
  for (const run of runs) {
    if (!run.finished) continue;
    for (let place = run.offset - start; place < Math.min(run.to, end) - start; place += 1) {
      bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7));
    }
  }
  return bits;
}

/** The finished ranges above `committed`; none if another program wrote the text. */
export function decodeProgress(committed: number, text: string | null | undefined): OffsetRange[] {
  const format = text?.slice(0, runsPrefix.length);
  const bytes = Buffer.from(text?.slice(runsPrefix.length) ?? '', 'base64');
  if (format === bitsPrefix) return rangesIn(bytes, committed);
  if (format !== runsPrefix) return [];
  const ranges: OffsetRange[] = [];
  let offset = committed;
  let finished = false;
  for (const length of varints(bytes)) {
    if (finished && length > 0) ranges.push({ from: offset, to: offset + length });
    offset += length;
    finished = !finished;
  }
  return ranges;
}

/** Whether one of the sorted ranges contains the offset. */
export function isInside(offset: number, ranges: readonly OffsetRange[]): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.to ?? Infinity) <= offset) low = middle + 1;
    else high = middle;
  }
  return (ranges[low]?.from ?? Infinity) <= offset;
}

function rangesIn(bits: Buffer, start: number): OffsetRange[] {
  const ranges: OffsetRange[] = [];
  let from: number | undefined;
  for (let place = 0; place <= bits.length * 8; place += 1) {
    const isFinished = (((bits[place >> 3] ?? 0) >> (place & 7)) & 1) === 1;
    if (isFinished) from ??= start + place;
    else if (from !== undefined) {
      ranges.push({ from, to: start + place });
      from = undefined;
    }
  }
  return ranges;
}

function textOf(prefix: string, bytes: readonly number[] | Uint8Array): string {
  return bytes.length === 0 ? '' : prefix + Buffer.from(bytes).toString('base64');
}

function pushVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}

function* varints(bytes: Buffer): Generator<number> {
  let value = 0;
  let factor = 1;
  for (const byte of bytes) {
    value += (byte & 0x7f) * factor;
    factor *= 0x80;
    if (byte & 0x80) continue;
    yield value;
    value = 0;
    factor = 1;
  }
}
