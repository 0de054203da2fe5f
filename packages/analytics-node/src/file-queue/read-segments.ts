/**
 * Reads the files that an earlier process has left.
 *
 * A file is named by the number of its first call. Each line is a call as JSON and the time when it was queued, in
 * milliseconds since 1970, or the number below which all calls are settled. A line that is not complete, at the end of a
 * file, was cut off by a crash.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Call } from '../core/encode.ts';

/** A file that is not written any more. */
export interface Segment {
  /** The number of the first call after it. */
  readonly end: number;
  readonly bytes: number;
  readonly file: string;
  readonly remove: () => void;
}

export interface Damage {
  readonly file: string;
  readonly reason: string;
}

export interface Found {
  readonly segments: readonly Segment[];
  /** The calls that are not settled, oldest first. A damaged record has a number, but no call. */
  readonly calls: readonly Call[];
  /** The number of the next call. */
  readonly next: number;
  readonly damages: readonly Damage[];
}

export const segmentName = (first: number): string => `${String(first).padStart(16, '0')}.calls`;

export function readSegments(directory: string): Found {
  const segments: Segment[] = [];
  const damages: Damage[] = [];
  const calls: Call[] = [];
  let settledBelow = 0;
  let next = 0;
  const files = readdirSync(directory)
    .filter((name) => /^\d{16}\.calls$/.test(name))
    .sort();
  for (const name of files) {
    const file = path.join(directory, name);
    const text = readFileSync(file, 'utf8');
    next = Math.max(next, Number(name.slice(0, 16)));
    const lines = text.split('\n');
    const cutOff = lines.pop() ?? '';
    if (cutOff.startsWith('{')) damages.push({ file, reason: 'a crash has cut it off' });
    for (const line of lines) {
      if (/^\d+$/.test(line)) {
        settledBelow = Math.max(settledBelow, Number(line));
        continue;
      }
      const call = callOf(line, next);
      if (call) calls.push(call);
      else damages.push({ file, reason: 'it is not a call' });
      next++;
    }
    segments.push(segmentOf(file, next, Buffer.byteLength(text)));
  }
  return {
    segments,
    calls: calls.filter(({ stored }) => stored >= settledBelow),
    // A file without calls has the number of the next call. The number is left out, so that the file is not overwritten.
    next: Math.max(next, settledBelow) + (files.at(-1) === segmentName(next) ? 1 : 0),
    damages,
  };
}

export function segmentOf(file: string, end: number, bytes: number): Segment {
  const remove = (): void => rmSync(file, { force: true });
  return { end, bytes, file, remove };
}

/** A line without its end. */
export const callLine = (json: string, queuedAtMs: number): string => `${json} ${queuedAtMs}`;

/** The bytes of a line beside its JSON. */
export const lineBytes = callLine('', Date.now()).length + 1;

function callOf(line: string, stored: number): Call | undefined {
  const at = line.lastIndexOf(' ');
  const json = line.slice(0, at);
  const queuedAt = line.slice(at + 1);
  // A clock that was never set is in 1970.
  if (!/^-?\d{1,15}$/.test(queuedAt)) return undefined;
  try {
    const call = Object(JSON.parse(json)) as Readonly<Record<string, unknown>>;
    if (typeof call['type'] !== 'string' || typeof call['messageId'] !== 'string') return undefined;
    const userKey = String(call['userId'] ?? call['anonymousId']);
    // Where the system clock was set back, the age begins now.
    const ageMs = Math.max(0, Date.now() - Number(queuedAt));
    return {
      json,
      bytes: Buffer.byteLength(json),
      userKey,
      queuedAt: performance.now() - ageMs,
      attempts: 0,
      number: 0,
      stored,
    };
  } catch {
    return undefined;
  }
}
