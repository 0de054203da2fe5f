/**
 * Streams of what is new. A stream is open from its answer until its client leaves, its token or session ends, or the instance
 * shuts down.
 *
 * Neither many streams nor clients that do not read hold up requests and probes: streams have places (access/shared.ts), an
 * attempt is serialised once for all that see the same of it, the bytes that wait for slow clients are bounded together, and
 * streams are written a few at a time, with turns of the event loop between them.
 */
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import type { History } from '@tailrace/history';
import type { AttemptRecord, RecordPosition } from '@tailrace/records';
import type { FastifyReply } from 'fastify';
import type { Caller, Role } from '../access/authenticate.ts';
import { Places } from '../access/places.ts';
import { amounts } from '../access/shared.ts';
import { isMaskedFor, showUrls, showUser } from '../access/mask.ts';

/** An attempt that was read, and what streams need of it. */
export class LiveAttempt {
  /** Counts from 1. */
  readonly id: number;
  readonly record: AttemptRecord;
  readonly #lines = new Map<boolean, Buffer>();

  /** Of the record in Kafka. */
  readonly bytes: number;
  readonly position: RecordPosition;

  constructor(id: number, record: AttemptRecord, bytes: number, position: RecordPosition) {
    this.id = id;
    this.record = record;
    this.bytes = bytes;
    this.position = position;
  }

  /** A line of JSON with what the role sees. */
  lineFor(role: Role | undefined): Buffer {
    const isMasked = isMaskedFor(role);
    let line = this.#lines.get(isMasked);
    if (!line) {
      const userKey = showUser(this.record.userKey, role);
      const urls = showUrls(this.record.urls, role);
      line = Buffer.from(`${JSON.stringify({ ...this.record, userKey, urls })}\n`);
      this.#lines.set(isMasked, line);
    }
    return line;
  }
}

export interface StreamContent {
  readonly headers: Readonly<Record<string, string>>;
  /** What the client gets first. */
  readonly first: string;
  /** Keeps the connection alive through proxies. */
  readonly heartbeat: string;
  onAttempt?(attempt: LiveAttempt): void;
  /** Called each second. */
  onSecond?(): void;
  onEnd?(): void;
  /** Sent in place of so many pieces, for which the client read too slowly. */
  missed?(count: number): string;
}

const tickMs = 1_000;
/** In ticks. */
const heartbeatEvery = 15;
/** Attempts that are kept for clients that resume. */
const maxKept = { attempts: 1_000, bytes: 2 ** 20 };
/** What waits is handed to a connection in pieces of this size, so that little lies in its own buffers. */
const chunkBytes = 16 * 1024;
/** Streams that are written in one turn of the event loop. */
const streamsPerTurn = 20;

export class Streams {
  readonly #signal: AbortSignal;
  readonly #places = new Places('streams');
  readonly #open = new Set<Stream>();
  /** Those with something to write whose connection is ready. */
  readonly #ready = new Set<Stream>();
  readonly #kept: LiveAttempt[] = [];
  #keptBytes = 0;
  #lastId = 0;
  #isWriting = false;

  /** @param signal ends all streams */
  constructor(history: Pick<History, 'onAttempt'>, signal: AbortSignal) {
    this.#signal = signal;
    history.onAttempt((record, bytes, position) => this.#accept(record, bytes, position));
  }

  /** The id of the latest attempt; 0 before the first. */
  get lastId(): number {
    return this.#lastId;
  }

  /** The latest attempts, oldest first. */
  get kept(): readonly LiveAttempt[] {
    return this.#kept;
  }

  /**
   * Answers with a stream. Returns a function that sends a piece soon.
   *
   * @throws TailraceError `too-many-requests`, `shutting-down`
   */
  open(caller: Caller | undefined, reply: FastifyReply, content: StreamContent): (piece: Buffer) => void {
    // Clients connect again at once, and a stream that begins now would hold up the shutdown.
    if (this.#signal.aborted) throw new TailraceError('shutting-down');
    const place = this.#places.take(caller);
    const stream = new Stream(caller, content);
    const end = (): void => stream.end();
    this.#signal.addEventListener('abort', end, { once: true });
    this.#open.add(stream);
    // The parts of the others are smaller now.
    for (const other of this.#open) other.trim(this.#part);
    stream.bytes.once('close', () => {
      this.#signal.removeEventListener('abort', end);
      this.#open.delete(stream);
      this.#ready.delete(stream);
      stream.close();
      place[Symbol.dispose]();
    });
    void reply.headers(content.headers).send(stream.bytes);
    return (piece) => {
      stream.add(piece, this.#part);
      // Another one takes what waits as soon as its connection is ready.
      if (!stream.isReady) return;
      this.#ready.add(stream);
      void this.#write();
    };
  }

  /** Bytes that may wait for one stream. */
  get #part(): number {
    const { most, ofOne } = amounts.streamBytes;
    return Math.min(ofOne, most / this.#open.size);
  }

  #accept(record: AttemptRecord, bytes: number, position: RecordPosition): void {
    const attempt = new LiveAttempt((this.#lastId += 1), record, bytes, position);
    this.#kept.push(attempt);
    this.#keptBytes += bytes;
    while (this.#kept.length > maxKept.attempts || this.#keptBytes > maxKept.bytes) {
      this.#keptBytes -= this.#kept.shift()?.bytes ?? 0;
    }
    for (const { content } of this.#open) content.onAttempt?.(attempt);
  }

  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    // What else this turn reads is written together.
    await nextTurn();
    let written = 0;
    // Streams that get something meanwhile are added at the end.
    for (const stream of this.#ready) {
      this.#ready.delete(stream);
      stream.write();
      written += 1;
      if (written % streamsPerTurn === 0) await nextTurn();
    }
    this.#isWriting = false;
  }
}

/** The bytes of one stream: those that wait here, and those that its connection is sending. */
class Stream {
  readonly content: StreamContent;
  readonly bytes: Readable;
  /** Whether the connection has sent what it got. */
  isReady = false;
  readonly #caller: Caller | undefined;
  readonly #ticking: NodeJS.Timeout;
  #pieces: Buffer[] = [];
  #waitingBytes = 0;
  #missed = 0;
  #ticks = 0;
  #hasEnded = false;

  constructor(caller: Caller | undefined, content: StreamContent) {
    this.#caller = caller;
    this.content = content;
    this.bytes = new Readable({
      highWaterMark: chunkBytes,
      read: () => {
        this.isReady = true;
        this.write();
      },
    });
    this.bytes.push(content.first);
    this.#ticking = setInterval(() => this.#tick(), tickMs);
  }

  add(piece: Buffer, part: number): void {
    this.#pieces.push(piece);
    this.#waitingBytes += piece.length;
    this.trim(part);
  }

  /** Drops the oldest pieces until `part` bytes wait. */
  trim(part: number): void {
    let dropped = 0;
    while (this.#waitingBytes > part) {
      this.#waitingBytes -= this.#pieces[dropped]?.length ?? 0;
      dropped += 1;
    }
    if (dropped > 0) this.#pieces.splice(0, dropped);
    this.#missed += dropped;
  }

  write(): void {
    if (!this.isReady || this.#pieces.length === 0 || this.#isOver()) return;
    this.isReady = false;
    const missed = this.#missed > 0 ? this.content.missed?.(this.#missed) : undefined;
    this.#missed = 0;
    let size = 0;
    let count = 0;
    for (const piece of this.#pieces) {
      if (size >= chunkBytes) break;
      size += piece.length;
      count += 1;
    }
    this.#waitingBytes -= size;
    this.bytes.push(Buffer.concat([Buffer.from(missed ?? ''), ...this.#pieces.splice(0, count)]));
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.bytes.push(null);
  }

  close(): void {
    clearInterval(this.#ticking);
    this.content.onEnd?.();
  }

  #tick(): void {
    if (this.#isOver()) return;
    this.content.onSecond?.();
    this.#ticks += 1;
    if (this.#ticks % heartbeatEvery === 0 && this.#pieces.length === 0)
      this.bytes.push(this.content.heartbeat);
  }

  /** Ends the stream where its token or session has ended. */
  #isOver(): boolean {
    if (this.#caller?.isValid() === false) this.end();
    return this.#hasEnded;
  }
}
