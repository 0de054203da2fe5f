/**
 * Encodes which records above a committed offset are finished. The text is stored in the metadata of the committed offset,
 * so that a slow record does not cause all finished records behind it to be repeated after a crash.
 *
 * Format: `f1:`, then in base64 the lengths of runs of offsets as variable-length integers. Runs alternate between
 * unfinished and finished, beginning with an unfinished run at the committed offset.
 */
import type { Run } from './watermark.ts';

/** Offsets from `from` (inclusive) to `to` (exclusive). */
export interface OffsetRange {
  readonly from: number;
  readonly to: number;
}

const prefix = 'f1:';
/** The broker's default for `offset.metadata.max.bytes` is 4,096. */
const maxTextLength = 4_000;
const maxBytes = Math.floor(((maxTextLength - prefix.length) * 3) / 4) - 3;

/**
 * Leaves out the highest offsets if the text would be too long for Kafka. These may be repeated.
 *
 * @param window runs in the order of their offsets, of which the first is unfinished
 */
export function encodeProgress(window: Iterable<Run>): string {
  const bytes: number[] = [];
  let finished = false;
  let runLength = 0;
  let next: number | undefined;
  for (const run of window) {
    const gap = next === undefined ? 0 : run.offset - next;
    const length = run.to - run.offset;
    next = run.to;
    if (run.finished === finished) {
      runLength += gap + length;
      continue;
    }
    if (bytes.length > maxBytes - 10) return finishedText(bytes);
    // A gap is added to the run before it: it has no records that could be repeated.
    pushVarint(bytes, runLength + gap);
    finished = run.finished;
    runLength = length;
  }
  if (finished) pushVarint(bytes, runLength);
  return finishedText(bytes);
}

/** The finished ranges above `committed`; none if another program wrote the text. */
export function decodeProgress(committed: number, text: string | null | undefined): OffsetRange[] {
  if (!text?.startsWith(prefix)) return [];
  const ranges: OffsetRange[] = [];
  let offset = committed;
  let finished = false;
  for (const length of varints(Buffer.from(text.slice(prefix.length), 'base64'))) {
    if (finished && length > 0) ranges.push({ from: offset, to: offset + length });
    offset += length;
    finished = !finished;
  }
  return ranges;
}

function finishedText(bytes: readonly number[]): string {
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
