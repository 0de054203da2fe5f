/** One assigned partition: its watermark, its unfinished work, and whether it is revoked. */
import { KnownEnds } from '../../lag/known-ends.ts';
import type { Progress } from '../../lag/partition-lag.ts';
import type { FirstRecord } from '../../patches/reading/admin-requests.ts';
import { encodeProgress, isInside, type OffsetRange } from './progress.ts';
import type { PartitionLimits } from './limits.ts';
import { Watermark, type Mark, type Run } from './watermark.ts';

export class Partition implements Progress {
  readonly topic: string;
  readonly partition: number;
  readonly #limits: PartitionLimits;
  #watermark: Watermark | undefined;
  #unfinished = 0;
  #unfinishedBytes = 0;
  /** Where it begins, once that is known. */
  #begin: number | undefined;
  #lookedUp: { readonly offset: number; readonly timestamp: number } | undefined;
  #recordBytes: number | undefined;

  revoked = false;
  /** Whether it is not assigned to this member any more, which finishes its work and then gives it up. */
  leaving = false;
  /** Because the partition is full. */
  paused = false;
  /** When the oldest work finished that no commit includes, and that the commit under way includes; of a monotonic clock. */
  #finishedSince: number | undefined;
  #committingSince: number | undefined;
  /** Finished work that no commit includes before its trace is written, and when it finished; oldest first. */
  readonly #held = new Map<Mark, number>();
  /** Ranges that an earlier owner finished above its watermark. */
  #finishedBefore: readonly OffsetRange[] = [];
  readonly ends = new KnownEnds();
  /** The timestamp of the last record that was received. */
  lastTimestamp: number | undefined;

  constructor(topic: string, partition: number, limits: PartitionLimits) {
    this.topic = topic;
    this.partition = partition;
    this.#limits = limits;
  }

  /** Sets the offset to begin with, and the finished ranges above it. No record may be tracked before. */
  start(offset: number, finishedBefore: readonly OffsetRange[] = []): void {
    this.#watermark = new Watermark(offset);
    this.#begin = offset;
    this.#finishedBefore = finishedBefore;
  }

  /** Sets the offset that it will begin with, before it is prepared. */
  willStart(offset: number): void {
    this.#begin = offset;
  }

  /** Whether its start offset is known. */
  get located(): boolean {
    return this.#watermark !== undefined;
  }

  get next(): number {
    return this.#watermark?.next ?? 0;
  }

  /** The offset of the first record that was not received; undefined while it is not known. */
  get nextUnread(): number | undefined {
    return this.#watermark?.next ?? this.#begin;
  }

  /** The end offset of the partition, as of the last fetch. */
  get end(): number {
    return Math.max(this.ends.end ?? 0, this.#begin ?? 0);
  }

  /** The timestamp of the first record that was not received, if it was looked up. */
  get nextTimestamp(): number | undefined {
    return this.#lookedUp?.offset === this.nextUnread ? this.#lookedUp?.timestamp : undefined;
  }

  /** @param offset the first record that was not received */
  lookedUp(offset: number, { timestamp, recordBytes }: FirstRecord): void {
    this.#lookedUp = { offset, timestamp };
    this.#recordBytes ??= recordBytes;
  }

  /** @param recordBytes the mean length of the records of a fetch */
  sawRecords(recordBytes: number): void {
    this.#recordBytes =
      this.#recordBytes === undefined ? recordBytes : (this.#recordBytes * 7 + recordBytes) / 8;
  }

  sawEnd(end: number, now: number): void {
    this.ends.see(end, now, this.#watermark?.committable ?? 0);
  }

  get committable(): number {
    return this.#watermark?.committable ?? 0;
  }

  /** The watermark and the encoded ranges that are finished above it, to commit. */
  get progress(): { readonly offset: string; readonly metadata: string } {
    return {
      offset: String(this.committable),
      metadata: this.#watermark ? encodeProgress(this.#runs(this.#watermark)) : '',
    };
  }

  /** Up to the last finished one. With what an earlier owner finished of the records that were not received yet. */
  *#runs(watermark: Watermark): Generator<Run> {
    const ahead = this.#finishedBefore.filter(({ to }) => to > watermark.next);
    if (ahead.length === 0) {
      yield* watermark.windowToLastFinished();
      return;
    }
    yield* watermark.window();
    let { next } = watermark;
    for (const { from, to } of ahead) {
      if (from > next) yield { offset: next, to: from, finished: false };
      yield { offset: Math.max(from, next), to, finished: true };
      next = to;
    }
  }

  get uncommitted(): number {
    return this.#watermark?.span ?? 0;
  }

  get unfinished(): number {
    return this.#unfinished;
  }

  get lag(): number {
    return Math.max(0, this.end - this.committable);
  }

  /**
   * About how many bytes Kafka stores from the first unfinished record on, by the records that were fetched last; undefined
   * while it is not known.
   */
  get lagBytes(): number | undefined {
    const from = this.#watermark?.committable ?? this.#begin;
    if (from === undefined || this.ends.end === undefined) return undefined;
    const records = Math.max(0, this.ends.end - from);
    return records === 0 ? 0 : this.#recordBytes && records * this.#recordBytes;
  }

  /** The records that were received and are unfinished, in the order of their offsets. */
  *unfinishedRecords(): Generator<Mark> {
    for (const mark of this.#watermark?.window() ?? []) if (!mark.finished) yield mark;
  }

  get full(): boolean {
    return this.#fill >= 1;
  }

  /** Whether half of the limits is free, so that a full partition may be fetched again. */
  get hasCapacity(): boolean {
    return this.#fill <= 0.5;
  }

  /** The used part of the limits. */
  get #fill(): number {
    const { records, bytes, gaps = Infinity } = this.#limits;
    const used = (this.#watermark?.finishedRuns ?? 0) / gaps;
    return Math.max(this.#unfinished / records, this.#unfinishedBytes / bytes, used);
  }

  /** Counts the record at `offset` as unfinished until `finish`. */
  track(offset: number, bytes: number, timestamp = -1): Mark {
    if (!this.#watermark) throw new Error('the partition has no start offset: call start() first');
    this.#unfinished += 1;
    this.#unfinishedBytes += bytes;
    return this.#watermark.track(offset, timestamp);
  }

  /** @param trace commits do not include the record before this has settled, or `release` is called */
  finish(mark: Mark, bytes: number, trace?: Promise<unknown>): void {
    this.#unfinished -= 1;
    this.#unfinishedBytes -= bytes;
    if (!trace) {
      this.#watermark?.finish(mark);
      this.#changed();
      return;
    }
    this.#held.set(mark, performance.now());
    const release = (): void => this.#release(mark);
    trace.then(release, release);
  }

  /** Lets commits include what finished at this time or earlier. Returns how much of it was held. */
  release(until: number): number {
    let released = 0;
    for (const [mark, since] of this.#held) {
      if (since > until) break;
      this.#release(mark);
      released += 1;
    }
    return released;
  }

  #release(mark: Mark): void {
    const since = this.#held.get(mark);
    if (since === undefined) return;
    this.#held.delete(mark);
    this.#watermark?.finish(mark);
    this.#changed(since);
  }

  /** Whether work has finished that no commit includes. */
  get changed(): boolean {
    return this.#finishedSince !== undefined;
  }

  /** When the oldest work finished that is not committed, by `performance.now()`; undefined if all is committed. */
  get uncommittedSince(): number | undefined {
    const [held] = this.#held.values();
    const oldest = Math.min(
      this.#committingSince ?? Infinity,
      this.#finishedSince ?? Infinity,
      held ?? Infinity,
    );
    return oldest === Infinity ? undefined : oldest;
  }

  /** Whether all work that is due is finished and committed. */
  get settled(): boolean {
    if (this.uncommittedSince !== undefined) return false;
    const now = Date.now();
    return [...this.unfinishedRecords()].every(({ dueAt = now }) => dueAt > now);
  }

  /** Begins a commit of `progress`, one at a time. Returns what ends it. */
  beginCommit(): (isCommitted: boolean) => void {
    const since = (this.#committingSince = this.#finishedSince);
    this.#finishedSince = undefined;
    return (isCommitted) => {
      if (!isCommitted) this.#changed(since);
      this.#committingSince = undefined;
    };
  }

  #changed(since = performance.now()): void {
    this.#finishedSince = Math.min(this.#finishedSince ?? Infinity, since);
  }

  /** Whether an earlier owner finished the record at `offset`. */
  finishedBefore(offset: number): boolean {
    return isInside(offset, this.#finishedBefore);
  }

  /** Returns whether records from `committable` on were finished at the time of this call. */
  finishedNow(): (offset: number) => boolean {
    const finished: OffsetRange[] = [];
    for (const run of this.#watermark?.window() ?? []) {
      if (run.finished || this.#held.has(run)) finished.push({ from: run.offset, to: run.to });
    }
    const before = this.#finishedBefore;
    return (offset) => isInside(offset, finished) || isInside(offset, before);
  }

  /** Skips a record that an earlier owner finished. */
  skipFinished(offset: number): void {
    if (!this.#watermark) return;
    this.#watermark.finish(this.#watermark.track(offset));
    this.#changed();
  }

  /** Skips records that Kafka has deleted. Returns how many of them no earlier owner had finished. */
  skipExpired(first: number): number {
    let missing = first - this.next;
    for (const { from, to } of this.#finishedBefore) {
      missing -= Math.max(0, Math.min(to, first) - Math.max(from, this.next));
    }
    this.skipTo(first);
    this.#changed();
    return missing;
  }

  skipTo(offset: number): void {
    this.#watermark?.skipTo(offset);
  }

  /** The partition is assigned to another member. */
  revoke(): void {
    this.revoked = true;
    this.#unfinished = 0;
    this.#unfinishedBytes = 0;
  }
}
