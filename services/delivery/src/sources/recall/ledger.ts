/**
 * The topic `recalls` in the memory of a delivery replica: the last request for each destination, and marks of records in
 * retry topics that are finished although the group has not read them yet. For the partitions that this replica owns it is
 * the only writer, and its memory is newer than the topic.
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
} from '@tailrace/records';

/** Whether a partition is still owned. */
interface Owned {
  readonly revoked: boolean;
}

export type Ledger = Awaited<ReturnType<typeof openLedger>>;

interface Known {
  readonly state: RecallState;
  /** Present for states that were put here. */
  readonly owned?: Owned;
}

export async function openLedger(
  kafka: Pick<Kafka, 'follow'>,
  publisher: Pick<Publisher, 'publish'>,
  topic: string,
  log: Pick<Log, 'warn'>,
) {
  const requests = new Map<string, RecallRequest>();
  const listeners: ((request: RecallRequest) => void)[] = [];
  const partitions = new Map<number, Map<string, Known>>();

  const keep = (state: RecallState, owned?: Owned): void => {
    const { partition, destinationId } = state;
    const known = partitions.get(partition) ?? new Map<string, Known>();
    partitions.set(partition, known);
    // An empty state is kept while the partition is owned, so that an older record of the topic does not replace it.
    if (!isEmpty(state) || owned) known.set(destinationId, owned ? { state, owned } : { state });
    else known.delete(destinationId);
  };
  const stateOf = (destinationId: string, partition: number): RecallState | undefined =>
    partitions.get(partition)?.get(destinationId)?.state;

  const follower = await kafka.follow({
    topic,
    onRecord(record) {
      const decoded = decodeRecall(record);
      if (!decoded) return;
      if (decoded.kind === 'request') {
        const { request } = decoded;
        requests.set(request.destinationId, request);
        for (const listener of listeners) listener(request);
        return;
      }
      const { state } = decoded;
      const known = partitions.get(state.partition)?.get(state.destinationId);
      const isOwn = known?.owned?.revoked === false;
      // Where both are empty, the state can be forgotten.
      if (!isOwn || (isEmpty(state) && isEmpty(known.state))) keep(state);
    },
  });
  return {
    /** Calls `listener` for each request from now on. */
    onRequest(listener: (request: RecallRequest) => void): void {
      listeners.push(listener);
    },
    requests: (): readonly RecallRequest[] => [...requests.values()],
    request: (destinationId: string): RecallRequest | undefined => requests.get(destinationId),
    state: stateOf,
    /** The states of all destinations in this partition number. */
    states: (partition: number): readonly RecallState[] =>
      Array.from(partitions.get(partition)?.values() ?? [], ({ state }) => state),
    /** Whether this record of a retry topic is delivered, or has a follow-up record. */
    isFinished(
      destinationId: string,
      record: Pick<ConsumedRecord, 'topic' | 'partition' | 'offset' | 'timestamp'>,
      sequence: number | undefined,
    ): boolean {
      const marks = stateOf(destinationId, record.partition)?.marks;
      return marks?.some((mark) => isMarked(mark, record, sequence)) ?? false;
    },
    /**
     * Applies here immediately, and for other replicas when it resolves. Until the partition is revoked, records of the
     * topic do not replace the state.
     */
    async put(state: RecallState, owned: Owned): Promise<void> {
      keep(state, owned);
      try {
        await publisher.publish(encodeRecallState(topic, state));
      } catch (error) {
        if (!isTailraceError(error)) throw error;
        // The next owner of the partition repeats the deliveries that only this replica knows to be finished.
        const { destinationId, partition } = state;
        log.warn({ err: error, destinationId, partition }, 'recall progress not published');
      }
    },
    /** @throws TailraceError `kafka-unavailable` */
    refresh: (): Promise<void> => follower.refresh(),
    close: (): Promise<void> => follower.close(),
  };
}

function isEmpty({ marks, request }: RecallState): boolean {
  return marks.length === 0 && !request;
}
