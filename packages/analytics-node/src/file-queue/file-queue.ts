/**
 * A queue in files of one directory, so that calls survive the end of the process. Used in addition to the queue in
 * memory: each call is appended to a file, and marked as settled once it was sent or reported.
 */
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Call } from '../core/encode.ts';
import type { CallStore, CallStoreOpener } from '../queue/call-store.ts';
import { AnalyticsError, invalidOption, reasonOf } from '../core/errors.ts';
import { positive } from '../core/options.ts';
import { lockDirectory } from './lock.ts';
import { lineBytes, readSegments, type Found, type Segment } from './read-segments.ts';
import { createSegmentWriter } from './segment-writer.ts';

export interface FileQueueOptions {
  /** A directory for this process alone. It is created where it does not exist. */
  readonly directory: string;
  /** Limit of the files in bytes. Default 64 MiB. */
  readonly maxBytes?: number | undefined;
  /**
   * The longest time in milliseconds until a call is on the disk (fdatasync). Default 100. With 0, each call is on the disk when
   * its method returns.
   */
  readonly syncAfterMs?: number | undefined;
}

/** The option `queue` of the client. */
export interface FileQueue {
  readonly open: CallStoreOpener;
}

const leastBytes = 1024 * 1024;

/** @throws AnalyticsError `invalid-options` */
export function fileQueue(options: FileQueueOptions): FileQueue {
  const { directory } = options;
  if (typeof directory !== 'string' || directory === '') throw invalidOption('directory', 'is required');
  const maxBytes = positive(options, 'maxBytes', 64 * leastBytes, leastBytes);
  const syncAfterMs = positive(options, 'syncAfterMs', 100, 0);
  return {
    open: (report) => openStore(path.resolve(directory), maxBytes, syncAfterMs, report),
  };
}

function openStore(
  directory: string,
  maxBytes: number,
  syncAfterMs: number,
  report: (error: AnalyticsError) => void,
): CallStore {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (cause) {
    throw invalidOption('queue', `cannot use ${directory}: ${reasonOf(cause)}`, cause);
  }
  const unlock = lockDirectory(directory);
  const { segments: oldSegments, calls, next, damages } = readOrUnlock(directory, unlock);
  let restored: readonly Call[] = calls;
  for (const { file, reason } of damages) {
    report(new AnalyticsError('queue-damaged', `A record of ${file} was skipped: ${reason}`));
  }
  /** Oldest first, each with the number of the first call after it. */
  const segments: Segment[] = [...oldSegments];
  /** The numbers of the calls that are not settled, oldest first. */
  const unsettled = new Set(calls.map(({ stored }) => stored));
  let unsettledBytes = calls.reduce((bytes, call) => bytes + call.bytes + lineBytes, 0);
  let nextNumber = next;
  const segmentBytes = Math.min(leastBytes, maxBytes / 4);
  let closed = false;
  const writer = createSegmentWriter({
    directory,
    maxBytes: segmentBytes,
    syncAfterMs,
    next,
    onFailure: (reason) =>
      report(new AnalyticsError('queue-damaged', `The file queue cannot be written: ${reason}`)),
    onFull: (segment) => segments.push(segment),
  });

  const usedBytes = (): number => segments.reduce((bytes, segment) => bytes + segment.bytes, writer.bytes);
  const oldest = (): number => unsettled.values().next().value ?? nextNumber;
  const removeSettled = (): void => {
    const settledBelow = oldest();
    while (segments[0] && segments[0].end <= settledBelow) {
      try {
        segments.shift()?.remove();
      } catch (error) {
        report(new AnalyticsError('queue-damaged', `Sent calls cannot be removed: ${reasonOf(error)}`));
      }
    }
  };
  const forget = (number: number, { bytes }: Call): void => {
    if (unsettled.delete(number)) unsettledBytes -= bytes + lineBytes;
  };
  const append = (call: Call, queuedAtMs: number): boolean => {
    call.stored = nextNumber++;
    unsettled.add(call.stored);
    unsettledBytes += call.bytes + lineBytes;
    return writer.append(call.json, queuedAtMs);
  };
  const settledUp = (): void => {
    writer.settle(oldest());
    removeSettled();
  };
  removeSettled();
  const onExit = (): void => writer.close();
  process.on('exit', onExit);

  return {
    load: () => {
      const all = restored;
      restored = [];
      return all;
    },
    get freeBytes() {
      return maxBytes - usedBytes();
    },
    add: (call) => append(call, Date.now()),
    settle(settled) {
      if (closed) return;
      for (const call of settled) forget(call.stored, call);
      settledUp();
    },
    compact(held, always) {
      const first = oldest();
      // Others come before the calls aside, and will be settled.
      if (closed || !held.some(({ stored }) => stored === first)) return;
      const settledBytes = usedBytes() - unsettledBytes;
      if (!always && settledBytes <= Math.max(2 * segmentBytes, unsettledBytes)) return;
      if (unsettled.size === nextNumber - first) return;
      const before = held.map((call) => ({ call, number: call.stored }));
      for (const { call } of before) append(call, Math.round(Date.now() - performance.now() + call.queuedAt));
      // The copies are on the disk before the files of the originals are removed.
      const isWritten = writer.flush() && held.every(({ stored }) => writer.has(stored));
      for (const { call, number } of before) {
        forget(isWritten ? number : call.stored, call);
        if (!isWritten) call.stored = number;
      }
      settledUp();
    },
    close() {
      if (!closed) {
        closed = true;
        process.off('exit', onExit);
        writer.close();
        removeSettled();
        unlock();
      }
      // The files may have been removed by another program.
      const found = segments.filter(({ file }) => existsSync(file));
      return ({ stored }) => {
        const segment = segments.find(({ end }) => stored < end);
        return segment !== undefined && found.includes(segment) && writer.has(stored);
      };
    },
  };
}

function readOrUnlock(directory: string, unlock: () => void): Found {
  try {
    return readSegments(directory);
  } catch (cause) {
    unlock();
    throw invalidOption('queue', `cannot read ${directory}: ${reasonOf(cause)}`, cause);
  }
}
