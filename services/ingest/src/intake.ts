/** Reads the bodies of requests, each bounded by the limit of its route and all together by the memory budget. */
import type { IncomingMessage } from 'node:http';
import { TailraceError } from '@tailrace/errors';
import type { BodyLimit } from './body.ts';
import type { MemoryShare } from './memory.ts';

/**
 * So much of a body that is too large is read and forgotten before it is refused: a sender that is cut off in the
 * middle of writing would not see the answer, take it for a broken connection, and send it all again.
 */
export const forgottenBytes = 1024 * 1024;

/** A body that is being read. */
export interface Reading {
  /**
   * The body as it came. Rejects with TailraceError: what the limit says, `overloaded`, or `malformed-request` where
   * the connection ends first.
   */
  readonly body: Promise<Buffer>;
  /** Reads no further. `body` then stays pending. */
  stop(): void;
}

/** Starts to read in this turn, so that nothing is held that `memory` does not count. */
export function readBody(request: IncomingMessage, limit: BodyLimit, memory: MemoryShare): Reading {
  return readInto(request, limit, new GrowingBuffer(limit, memory, declaredBytes(request)));
}

/** Reads a body that is not needed, and holds nothing of it. Rejects as {@link readBody} does. */
export async function forgetBody(request: IncomingMessage, limit: BodyLimit): Promise<void> {
  await readInto(request, limit, nothing).body;
}

/**
 * Reads on what a refused request still sends, so that its sender comes to read the answer, and closes the connection
 * of a sender that does not come to an end.
 */
export function forgetRest(request: IncomingMessage): void {
  let forgotten = 0;
  request.on('data', (chunk: Buffer) => {
    forgotten += chunk.length;
    if (forgotten > forgottenBytes) request.socket.destroy();
  });
}

/** Whether the rest of the refused `request` is too long to be read and forgotten. */
export function restIsLong(request: IncomingMessage): boolean {
  return declaredBytes(request) > forgottenBytes;
}

function declaredBytes({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0);
}

function readInto(request: IncomingMessage, limit: BodyLimit, gathered: Gathering): Reading {
  const { promise: body, resolve, reject } = Promise.withResolvers<Buffer>();
  let received = 0;
  const stop = (): void => {
    request.off('data', onData).off('end', onEnd).off('close', onClose);
  };
  const fail = (error: unknown): void => {
    stop();
    gathered.drop();
    reject(error);
  };
  const onData = (chunk: Buffer): void => {
    received += chunk.length;
    if (received > limit.bytes) {
      gathered.drop();
      if (received > limit.bytes + forgottenBytes) fail(new TailraceError(limit.exceeded));
      return;
    }
    try {
      gathered.add(chunk);
    } catch (error) {
      fail(error);
    }
  };
  const onEnd = (): void => {
    if (received > limit.bytes) {
      fail(new TailraceError(limit.exceeded));
      return;
    }
    stop();
    resolve(gathered.take());
  };
  const onClose = (): void => {
    fail(new TailraceError('malformed-request'));
  };
  if (declaredBytes(request) > limit.bytes + forgottenBytes) fail(new TailraceError(limit.exceeded));
  else request.on('data', onData).on('end', onEnd).on('close', onClose);
  return { body, stop };
}

interface Gathering {
  /** @throws TailraceError as `MemoryShare.ask` does */
  add(chunk: Buffer): void;
  drop(): void;
  take(): Buffer;
}

const nothing: Gathering = { add: () => undefined, drop: () => undefined, take: () => empty };
const empty = Buffer.alloc(0);

/**
 * One buffer that grows, and no list of chunks: a body in chunks of one byte costs 400 bytes for each where they are
 * kept. It at least doubles, so that it is copied twice at most; what is declared may be a lie, and is believed up
 * to four times what has come.
 */
class GrowingBuffer implements Gathering {
  readonly #limit: BodyLimit;
  readonly #memory: MemoryShare;
  readonly #declared: number;
  #buffer: Buffer = empty;
  #length = 0;

  constructor(limit: BodyLimit, memory: MemoryShare, declared: number) {
    this.#limit = limit;
    this.#memory = memory;
    this.#declared = declared;
  }

  add(chunk: Buffer): void {
    const needed = this.#length + chunk.length;
    if (this.#length === 0) {
      // Nearly every body comes in one chunk, which is used as it is.
      this.#memory.ask(needed, this.#limit.exceeded);
      this.#buffer = chunk;
    } else {
      if (needed > this.#buffer.length) this.#grow(needed);
      chunk.copy(this.#buffer, this.#length);
    }
    this.#length = needed;
  }

  #grow(needed: number): void {
    const wanted = Math.max(2 * needed, Math.min(this.#declared, 4 * needed));
    const capacity = Math.min(this.#limit.bytes, wanted);
    this.#memory.ask(capacity, this.#limit.exceeded);
    const larger = Buffer.allocUnsafeSlow(capacity);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }

  drop(): void {
    if (this.#length === 0) return;
    this.#buffer = empty;
    this.#length = 0;
    this.#memory.keep(0);
  }

  take(): Buffer {
    return this.#length === this.#buffer.length ? this.#buffer : this.#buffer.subarray(0, this.#length);
  }
}
