/**
 * Appends to the newest file. Lines are collected and written at the end of the turn of the event loop, with one
 * write, and forced to the disk within `syncAfterMs`.
 */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { reasonOf } from '../core/errors.ts';
import { callLine, lineBytes, segmentName, segmentOf, type Segment } from './read-segments.ts';

interface SegmentWriterSettings {
  readonly directory: string;
  /** A file of this size is followed by a new one. */
  readonly maxBytes: number;
  readonly syncAfterMs: number;
  /** The number of the next call. */
  readonly next: number;
  /** Called for the first of several failures in a row. */
  readonly onFailure: (reason: string) => void;
  /** Receives each file that is full. */
  readonly onFull: (segment: Segment) => void;
}

export function createSegmentWriter(settings: SegmentWriterSettings) {
  const { directory, maxBytes, syncAfterMs, onFailure, onFull } = settings;
  let fd: number | undefined;
  let file = '';
  let first = settings.next;
  let next = settings.next;
  let settledBelow = settings.next;
  let bytes = 0;
  /** The bytes of the newest file that were written. */
  let writtenBytes = 0;
  let lines: string[] = [];
  /** The calls in `lines`, the newest ones. */
  let pending = 0;
  /** Calls that could not be written, as numbers from and to, oldest first. */
  let unwritten: { from: number; to: number }[] = [];
  let isFailing = false;
  let isSettledNew = false;
  let turn: NodeJS.Immediate | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const open = (): number => {
    file = path.join(directory, segmentName(next));
    const opened = openSync(file, 'w', 0o600);
    syncDirectory(directory);
    first = next;
    bytes = 0;
    writtenBytes = 0;
    return opened;
  };

  const finish = (): void => {
    if (fd === undefined) return;
    const old = fd;
    const oldFile = file;
    fd = undefined;
    const segment = segmentOf(oldFile, next, bytes);
    bytes = 0;
    if (settledBelow < next && next > first) onFull(segment);
    if (closed) {
      fdatasyncSync(old);
      closeSync(old);
    } else {
      fdatasync(old, () => closeSync(old));
    }
    if (settledBelow >= next) segment.remove();
  };

  const write = (): void => {
    clearImmediate(turn);
    turn = undefined;
    if ((lines.length === 0 && !isSettledNew) || fd === undefined) return;
    const settled = isSettledNew ? `${settledBelow}\n` : '';
    const data = Buffer.from(lines.join('') + settled);
    for (let written = 0; written < data.length;) written += writeSync(fd, data, written);
    writtenBytes += data.length;
    lines = [];
    pending = 0;
    isSettledNew = false;
    isFailing = false;
    if (syncAfterMs === 0) fdatasyncSync(fd);
    else timer ??= setTimeout(sync, syncAfterMs);
  };

  const sync = (): void => {
    timer = undefined;
    if (fd !== undefined) {
      fdatasync(fd, (error) => {
        // A file that was closed meanwhile has been synced.
        if (error && error.code !== 'EBADF') failed(error);
      });
    }
  };

  const failed = (error: unknown): void => {
    if (!isFailing) onFailure(reasonOf(error));
    isFailing = true;
  };

  const guarded = (operation: () => void): boolean => {
    try {
      operation();
      return true;
    } catch (error) {
      if (pending > 0) unwritten.push({ from: next - pending, to: next });
      lines = [];
      abandon();
      pending = 0;
      failed(error);
      return false;
    }
  };

  /** The numbers of calls follow from their place in the file, so the calls after a gap go into a new file. */
  const abandon = (): void => {
    if (fd === undefined) return;
    const old = fd;
    fd = undefined;
    const end = next - pending;
    const isUsed = end > first && writtenBytes > 0;
    if (isUsed) onFull(segmentOf(file, end, writtenBytes));
    bytes = 0;
    try {
      // A part of a line may have been written.
      if (isUsed) ftruncateSync(old, writtenBytes);
      else rmSync(file, { force: true });
    } catch {
      // It is skipped as a damaged record, or has none.
    }
    closeSync(old);
  };

  const later = (): void => {
    if (closed) guarded(write);
    else turn ??= setImmediate(() => guarded(write));
  };

  return {
    /** The size of the newest file. */
    get bytes() {
      return bytes;
    },
    /** Returns false where the files cannot be written. */
    append(json: string, queuedAtMs: number): boolean {
      const added = guarded(() => {
        if (bytes >= maxBytes) {
          write();
          finish();
        }
        fd ??= open();
        lines.push(`${callLine(json, queuedAtMs)}\n`);
        pending++;
        bytes += Buffer.byteLength(json) + lineBytes;
      });
      // A call that is not in the files has a number too, because it will be settled.
      if (!added) unwritten.push({ from: next, to: next + 1 });
      next++;
      if (!added) return false;
      if (syncAfterMs === 0) return guarded(write);
      later();
      return true;
    },
    /** Writes what was appended to the disk. Returns false where it cannot. */
    flush: (): boolean =>
      guarded(() => {
        write();
        if (fd !== undefined) fdatasyncSync(fd);
      }),
    /** All calls below `number` are settled. */
    settle(number: number): void {
      if (number === settledBelow) return;
      settledBelow = number;
      unwritten = unwritten.filter(({ to }) => to > number);
      // Then all files are removed.
      if (fd === undefined && number >= next) return;
      guarded(() => {
        fd ??= open();
        isSettledNew = true;
        bytes += 20;
        later();
      });
    },
    /** Whether a call that is not settled was written. */
    has: (number: number): boolean => !unwritten.some(({ from, to }) => from <= number && number < to),
    /**
     * Writes and syncs what is left. Removes the file where all its calls are settled. Later calls, of a process that is
     * ending, are written immediately.
     */
    close(): void {
      if (closed) return;
      closed = true;
      clearTimeout(timer);
      guarded(() => {
        write();
        finish();
      });
      clearImmediate(turn);
    },
  };
}

/** So that the new file is found after a power failure. Not every system can. */
function syncDirectory(directory: string): void {
  try {
    const fd = openSync(directory, 'r');
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Windows does not open directories.
  }
}
