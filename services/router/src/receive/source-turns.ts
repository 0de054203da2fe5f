/**
 * Lets the sources of `events` take turns, so that the records of one do not wait behind the flood of another. While little
 * waits for Kafka, a record is processed when it is received. The others are held here and keep the order of their source.
 *
 * A turn ends when the source has used its quantum, counted as what it made the publisher write, because that is what sources
 * compete for (deficit round robin, Shreedhar and Varghese, 1995, paid afterwards).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ConfigView, Source } from '@tailrace/config';
import type { Publisher, TrackedRecord } from '@tailrace/kafka';
import { magicByte, type FrameReader } from '@tailrace/registry';
import { lookUpSource, readRecord, sourceReference, type SourceReference } from '@tailrace/routing';
import { withOwnBytes } from '../record-content.ts';

export interface SourceTurnsDependencies {
  readonly config: Pick<ConfigView, 'source' | 'sourceByWriteKey'>;
  readonly frames: Pick<FrameReader, 'read'>;
  /** The publisher of the deliveries. */
  readonly publisher: Pick<Publisher, 'bufferedBytes' | 'untilBelow'>;
  readonly process: (record: TrackedRecord) => void;
  /** Sources that have no turns while they are held, and what waits before it is published. */
  readonly held: {
    readonly isHolding: boolean;
    readonly waitingBytes: number;
    holds(source: string): boolean;
  };
  /** Called with true when no more should be read, and with false when reading may continue. */
  readonly onFull: (full: boolean) => void;
}

/**
 * While so much waits for Kafka, records are held. A record waits for as much after its turn. It is two requests to Kafka, so
 * that one is made while the other is in flight.
 */
export const publishedAheadBytes = 2 ** 20;
/** For longer, a partition of Kafka is stuck, and the records of the others shall pass: as much again may wait. */
const stuckMs = 1_000;
/** Beyond this nothing more is read, until half of it is held. A fetch that is under way may add to it. */
export const mostHeld = { records: 40_000, bytes: 32 * 2 ** 20 };
/** Of one turn, in bytes. A record of 1 KB with one destination uses half of it. */
const quantum = 4_096;
/** What a record uses beside what it publishes, because a repeat takes time too. */
const recordCost = 512;
/** Processed in one turn of the event loop, which takes some milliseconds. */
const mostAtOnce = 200;

/** The records of one source, first in, first out. */
interface SourceQueue {
  first: Held;
  last: Held;
  /** What is left of its turn. Negative where its last record used more. */
  left: number;
}

interface Held {
  readonly record: TrackedRecord;
  readonly bytes: number;
  /** How it names a source that was unknown when it was received. */
  readonly stranger: string | undefined;
  next: Held | undefined;
}

/** The turn of records that name no source, or only in a call that needs a schema, which may be known for some of them only. */
const unnamed = '';
/** The turn of records of unknown sources, whose names a producer may make up. No source has this id. */
const strangers = '?';

export class SourceTurns {
  readonly #deps: SourceTurnsDependencies;
  /** In the order of their turns. */
  readonly #queues = new Map<string, SourceQueue>();
  /** The names of unknown sources, and how many held records have them: later ones follow these when the source becomes known. */
  readonly #strangers = new Map<string, number>();
  #heldRecords = 0;
  #heldBytes = 0;
  /** What may wait for Kafka; more than usual while a partition of it is stuck. */
  #aheadBytes = publishedAheadBytes;
  #isFull = false;
  #isRunning = false;
  #isOnHold = false;

  constructor(dependencies: SourceTurnsDependencies) {
    this.#deps = dependencies;
  }

  /** Processes the record, now or when it is its turn. */
  receive(record: TrackedRecord): void {
    if (this.#heldRecords === 0 && !this.#deps.held.isHolding && this.#mayProcess()) {
      this.#deps.process(record);
      return;
    }
    const { source, stranger } = this.#turnOf(record);
    // Else one held record would keep all others of its fetch in memory.
    const { record: own, bytes } = withOwnBytes(record);
    const held: Held = { record: own, bytes, stranger, next: undefined };
    if (stranger !== undefined) this.#strangers.set(stranger, (this.#strangers.get(stranger) ?? 0) + 1);
    const queue = this.#queues.get(source);
    if (queue) queue.last = queue.last.next = held;
    else this.#queues.set(source, { first: held, last: held, left: quantum });
    this.#heldRecords += 1;
    this.#heldBytes += bytes;
    this.#updateFull();
    void this.#run();
  }

  /** Sources are not held any more. */
  release(): void {
    void this.#run();
  }

  /** While on hold nothing is processed, because it could not be committed. */
  hold(isOnHold: boolean): void {
    this.#isOnHold = isOnHold;
    void this.#run();
  }

  #mayProcess(): boolean {
    const { bufferedBytes } = this.#deps.publisher;
    if (bufferedBytes < publishedAheadBytes) this.#aheadBytes = publishedAheadBytes;
    return !this.#isOnHold && bufferedBytes < this.#aheadBytes;
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const { publisher } = this.#deps;
    while (this.#heldRecords > 0 && !this.#isOnHold) {
      await publisher.untilBelow(this.#aheadBytes, stuckMs);
      if (publisher.bufferedBytes >= this.#aheadBytes) this.#aheadBytes += publishedAheadBytes;
      for (let n = 0; n < mostAtOnce && this.#heldRecords > 0 && this.#mayProcess(); n += 1) {
        if (this.#processNext()) continue;
        // Only records of held sources are left, until they are released.
        this.#isRunning = false;
        return;
      }
      await nextTurn();
    }
    this.#isRunning = false;
  }

  /** Returns whether a source had a turn. */
  #processNext(): boolean {
    const { held } = this.#deps;
    for (const [source, queue] of this.#queues) {
      if (held.holds(source)) continue;
      if (queue.left > 0) {
        this.#processFirst(source, queue);
        return true;
      }
      queue.left += quantum;
      this.#queues.delete(source);
      this.#queues.set(source, queue);
    }
    return false;
  }

  #processFirst(source: string, queue: SourceQueue): void {
    const { process } = this.#deps;
    const { record, bytes, stranger, next } = queue.first;
    if (next) queue.first = next;
    else this.#queues.delete(source);
    this.#heldRecords -= 1;
    this.#heldBytes -= bytes;
    if (stranger !== undefined) this.#forget(stranger);
    const before = this.#madeBytes;
    process(record);
    queue.left -= recordCost + this.#madeBytes - before;
    this.#updateFull();
  }

  get #madeBytes(): number {
    const { publisher, held } = this.#deps;
    return publisher.bufferedBytes + held.waitingBytes;
  }

  #updateFull(): void {
    const part = Math.max(this.#heldRecords / mostHeld.records, this.#heldBytes / mostHeld.bytes);
    const isFull = part >= (this.#isFull ? 0.5 : 1);
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#deps.onFull(isFull);
  }

  #forget(stranger: string): void {
    const left = (this.#strangers.get(stranger) ?? 0) - 1;
    if (left > 0) this.#strangers.set(stranger, left);
    else this.#strangers.delete(stranger);
  }

  #turnOf(record: TrackedRecord): { readonly source: string; readonly stranger?: string } {
    const reference = this.#sourceNamedBy(record);
    if (!reference) return { source: unnamed };
    const stranger = strangerOf(reference);
    const lookup = lookUpSource(reference, this.#deps.config);
    if (lookup.outcome === 'unknown' || this.#hasStrangersOf(lookup.source)) {
      return { source: strangers, stranger };
    }
    return { source: lookup.source.id };
  }

  #sourceNamedBy(record: TrackedRecord): SourceReference | undefined {
    const reference = sourceReference(record.headers, undefined);
    if (reference || record.value?.[0] === magicByte) return reference;
    const reading = readRecord(record, this.#deps.frames);
    return reading.outcome === 'read' ? reading.source : undefined;
  }

  #hasStrangersOf({ id, writeKeys }: Source): boolean {
    if (this.#strangers.size === 0) return false;
    if (this.#strangers.has(strangerOf({ by: 'id', value: id }))) return true;
    return writeKeys.some((key) => this.#strangers.has(strangerOf({ by: 'write-key', value: key })));
  }
}

const strangerOf = ({ by, value }: SourceReference): string => `${by} ${value}`;

/** The turns in which records of this kind from the source are processed. A call in Confluent wire format may name the source alone. */
export function turnsOf({ value }: Pick<TrackedRecord, 'value'>, sourceId: string): readonly string[] {
  return value?.[0] === magicByte ? [sourceId, unnamed] : [sourceId];
}
