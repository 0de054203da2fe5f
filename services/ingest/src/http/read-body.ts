/** Reads request bodies. Each is bounded by the limit of its route, and all together by the memory budget. */
import type { IncomingMessage } from 'node:http';
import { TailraceError } from '@tailrace/errors';
import type { BodyLimit } from './decode-body.ts';
import type { MemoryShare } from '../memory/budget.ts';

/**
 * How much of a body beyond its limit is read and discarded before the request is refused. A sender whose
 * connection is cut during a write would not see the response, and would send everything again.
 */
const maxDiscardedBytes = 1024 * 1024;

/** A body that is being read. */
export interface Reading {
  /**
   * The body as received. Rejects with a TailraceError: the error of the limit, `overloaded`, or
   * `malformed-request` where the connection ends early.
   */
  readonly body: Promise<Buffer>;
  /** Stops reading. `body` then stays pending. */
  stop(): void;
}

/** Starts reading synchronously, so that all bytes are counted in `memory`. */
export function readBody(request: IncomingMessage, limit: BodyLimit, memory: MemoryShare): Reading {
  return readInto(request, limit, new GrowingBuffer(limit, memory, declaredBytes(request)));
}

/** Reads a body and discards it. Rejects as {@link readBody} does. */
export async function discardBody(request: IncomingMessage, limit: BodyLimit): Promise<void> {
  await readInto(request, limit, nothing).body;
}

/**
 * Reads and discards the rest of a refused request, so that its sender reads the response. Closes the connection of
 * a sender that does not finish.
 */
export function discardRest(request: IncomingMessage): void {
  let discarded = 0;
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > maxDiscardedBytes) request.socket.destroy();
  });
}

/** Whether the rest of the refused `request` is too long to be discarded. */
export function restIsLong(request: IncomingMessage): boolean {
  return declaredBytes(request) > maxDiscardedBytes;
}

function declaredBytes({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0);
}

function readInto(request: IncomingMessage, limit: BodyLimit, sink: BodySink): Reading {
  const { promise: body, resolve, reject } = Promise.withResolvers<Buffer>();
  let received = 0;
  const stop = (): void => {
    request.off('data', onData).off('end', onEnd).off('close', onClose);
  };
  const fail = (error: unknown): void => {
    stop();
    sink.drop();
    reject(error);
  };
  const onData = (chunk: Buffer): void => {
    received += chunk.length;
    if (received > limit.bytes) {
      sink.drop();
      if (received > limit.bytes + maxDiscardedBytes) fail(new TailraceError(limit.exceeded));
      return;
    }
    try {
      sink.add(chunk);
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
    resolve(sink.take());
  };
  const onClose = (): void => fail(new TailraceError('malformed-request'));
  if (declaredBytes(request) > limit.bytes + maxDiscardedBytes) fail(new TailraceError(limit.exceeded));
  else request.on('data', onData).on('end', onEnd).on('close', onClose);
  return { body, stop };
}

interface BodySink {
  /** @throws TailraceError as `MemoryShare.reserve` does */
  add(chunk: Buffer): void;
  drop(): void;
  take(): Buffer;
}

const nothing: BodySink = { add: () => undefined, drop: () => undefined, take: () => empty };
const empty = Buffer.alloc(0);

/**
 * One growing buffer. A list of chunks would cost 400 bytes for each chunk of one byte. The size at least doubles,
 * so that the content is copied twice at most. The declared length is trusted up to four times the received bytes.
 */
class GrowingBuffer implements BodySink {
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
      // Most bodies arrive in one chunk, which is used without a copy.
      this.#memory.reserve(needed, this.#limit.exceeded);
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
    this.#memory.reserve(capacity, this.#limit.exceeded);
    const larger = Buffer.allocUnsafeSlow(capacity);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }

  drop(): void {
    if (this.#length === 0) return;
    this.#buffer = empty;
    this.#length = 0;
    this.#memory.set(0);
  }

  take(): Buffer {
    return this.#length === this.#buffer.length ? this.#buffer : this.#buffer.subarray(0, this.#length);
  }
}
