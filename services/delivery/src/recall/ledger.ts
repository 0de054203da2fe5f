/**
 * The topic `recalls` as a delivery replica keeps it: the last request of each destination, and what is over in the tiers
 * though the group has not read it yet. Of the partitions that this replica owns it is the only writer, and knows more than
 * the topic does.
 */
import { isTailraceError } from '@tailrace/errors';
import type { ConsumedRecord, Kafka, Publisher } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import {
  decodeRecall,
  encodeRecallState,
  isMarked,
  type RecallRequest,
  type RecallState,
} from '@tailrace/topics';

/** Tells whether a partition is still owned. */
export interface Hold {
  readonly revoked: boolean;
}

export interface Ledger {
  /** Called for each request from then on. */
  onRequest: (request: RecallRequest) => void;
  requests(): readonly RecallRequest[];
  request(destinationId: string): RecallRequest | undefined;
  state(destinationId: string, partition: number): RecallState | undefined;
  /** Of the partition of this number. */
  states(partition: number): readonly RecallState[];
  /** Whether this record of a tier is delivered, dead, or in a tier again. */
  isOver(
    destinationId: string,
    record: Pick<ConsumedRecord, 'topic' | 'partition' | 'offset' | 'timestamp'>,
    sequence: number | undefined,
  ): boolean;
  /** Counts here immediately, and for others when it resolves. While `hold` is not lost, the topic is not believed. */
  put(state: RecallState, hold: Hold): Promise<void>;
  /** @throws TailraceError `kafka-unavailable` */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

interface Known {
  readonly state: RecallState;
  /** Of what was put here. */
  readonly hold?: Hold;
}

export async function openLedger(
  kafka: Pick<Kafka, 'follow'>,
  publisher: Pick<Publisher, 'publish'>,
  topic: string,
  log: Pick<Log, 'warn'>,
): Promise<Ledger> {
  const requests = new Map<string, RecallRequest>();
  const partitions = new Map<number, Map<string, Known>>();

  const keep = (state: RecallState, hold?: Hold): void => {
    const { partition, destinationId } = state;
    const known = partitions.get(partition) ?? new Map<string, Known>();
    partitions.set(partition, known);
    // What says nothing is kept while it is owned, lest an older record of the topic take its place.
    if (!isEmpty(state) || hold) known.set(destinationId, hold ? { state, hold } : { state });
    else known.delete(destinationId);
  };
  const stateOf = (destinationId: string, partition: number): RecallState | undefined =>
    partitions.get(partition)?.get(destinationId)?.state;

  const ledger: Omit<Ledger, 'refresh' | 'close'> = {
    onRequest: () => undefined,
    requests: () => [...requests.values()],
    request: (destinationId) => requests.get(destinationId),
    state: stateOf,
    states: (partition) => Array.from(partitions.get(partition)?.values() ?? [], ({ state }) => state),
    isOver(destinationId, record, sequence) {
      const marks = stateOf(destinationId, record.partition)?.marks;
      return marks?.some((mark) => isMarked(mark, record, sequence)) ?? false;
    },
    async put(state, hold) {
      keep(state, hold);
      try {
        await publisher.publish(encodeRecallState(topic, state));
      } catch (error) {
        if (!isTailraceError(error)) throw error;
        // The next owner of the partition then repeats what only this replica knows to be over.
        const { destinationId, partition } = state;
        log.warn({ err: error, destinationId, partition }, 'the progress of a recall was not kept');
      }
    },
  };
  const follower = await kafka.follow({
    topic,
    onRecord(record) {
      const decoded = decodeRecall(record);
      if (!decoded) return;
      if (decoded.kind === 'request') {
        const { request } = decoded;
        requests.set(request.destinationId, request);
        ledger.onRequest(request);
        return;
      }
      const { state } = decoded;
      const known = partitions.get(state.partition)?.get(state.destinationId);
      const isOwn = known?.hold?.revoked === false;
      // Where both say nothing, nothing needs to be remembered.
      if (!isOwn || (isEmpty(state) && isEmpty(known.state))) keep(state);
    },
  });
  return Object.assign(ledger, {
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  });
}

function isEmpty({ marks, request }: RecallState): boolean {
  return marks.length === 0 && !request;
}
