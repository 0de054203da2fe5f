/** What a fetch has read of one partition. */
import { libraryModule } from '../patches/apply.ts';
import type { PartitionData } from '../patches/reading/fetch-response.ts';
import type { FetchedRecord } from './record-batch.ts';

const filterAbortedMessages = libraryModule('consumer/filterAbortedMessages') as (answer: {
  readonly messages: readonly FetchedRecord[];
  readonly abortedTransactions: PartitionData['abortedTransactions'];
}) => readonly FetchedRecord[];

/** The mean length of a record as Kafka stores it. Offsets count instead of records, because the lag does so too. */
export function recordBytesOf({ bytes, messages }: Pick<FetchedPartition, 'bytes' | 'messages'>): number {
  const [first, last] = [messages[0]?.offset ?? 0, messages.at(-1)?.offset ?? 0];
  return bytes / (last - first + 1);
}

type FetchedPartition = Pick<
  PartitionData,
  'partition' | 'highWatermark' | 'abortedTransactions' | 'bytes' | 'messages'
>;

/**
 * The batch of one partition, as the library passes it on. The library's own class converts each offset to a BigInt, and the library keeps
 * a batch to itself that has only transaction markers and aborted records, although the next one is read after it.
 */
export class FetchedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly fetchedOffset: string;
  readonly highWatermark: string;
  /** The mean length of a record as Kafka stores it, compressed. */
  readonly recordBytes: number;
  /** Kafka returns whole batches, which may begin before the requested offset. */
  readonly messagesWithinOffset: readonly FetchedRecord[];
  /** Without aborted records and transaction markers. */
  readonly messages: readonly FetchedRecord[];

  constructor(topic: string, fetchedOffset: string, data: FetchedPartition) {
    this.topic = topic;
    this.partition = data.partition;
    this.fetchedOffset = fetchedOffset;
    this.highWatermark = data.highWatermark;
    this.recordBytes = recordBytesOf(data);
    const from = Number(fetchedOffset);
    const first = data.messages.findIndex(({ offset }) => offset >= from);
    const messages = first === 0 ? data.messages : first < 0 ? [] : data.messages.slice(first);
    const { abortedTransactions } = data;
    this.messagesWithinOffset = messages;
    this.messages = filterAbortedMessages({ messages, abortedTransactions }).filter(
      ({ isControlRecord }) => !isControlRecord,
    );
  }

  isEmpty(): boolean {
    return false;
  }

  isEmptyDueToFiltering(): boolean {
    return false;
  }

  firstOffset(): number | null {
    return this.messagesWithinOffset[0]?.offset ?? null;
  }

  lastOffset(): number {
    return this.messagesWithinOffset.at(-1)?.offset ?? Number(this.fetchedOffset);
  }

  offsetLag(): string {
    return String(Number(this.highWatermark) - 1 - this.lastOffset());
  }

  offsetLagLow(): string {
    const first = this.firstOffset();
    return first === null ? '0' : String(Number(this.highWatermark) - 1 - first);
  }
}
