/** Reads a small file that the operator names. The path may also name a pipe, a terminal, or a device that has no end. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** A program that writes the secret into a pipe may need a moment. */
const pipeTimeoutMs = 5_000;
const pauseMs = 20;

/**
 * The content of the file. Waits for the writer of a pipe, with a time limit.
 *
 * @throws an error with a `code`: EFBIG if there is more than `maxBytes`, ETIMEDOUT if a writer does not end
 */
export function readBounded(path: string, maxBytes: number): Buffer {
  const buffer = Buffer.alloc(maxBytes + 1);
  const deadline = performance.now() + pipeTimeoutMs;
  // Without O_NONBLOCK, opening a pipe waits until there is a writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    let length = 0;
    for (;;) {
      const read = readAvailable(file, buffer, length);
      if (read === 0) return buffer.subarray(0, length);
      length += read ?? 0;
      if (length > maxBytes) throw withCode('EFBIG');
      if (read !== undefined) continue;
      if (performance.now() > deadline) throw withCode('ETIMEDOUT');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  } finally {
    closeSync(file);
  }
}

/** The number of bytes read, 0 at the end of the file; undefined where there may be more later. */
function readAvailable(file: number, buffer: Buffer, offset: number): number | undefined {
  try {
    const read = readSync(file, buffer, offset, buffer.length - offset, null);
    // A pipe whose writer has not opened it yet is at its end, too.
    return read === 0 && offset === 0 && fstatSync(file).isFIFO() ? undefined : read;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}
