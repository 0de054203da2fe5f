/**
 * What is asked of delivery about deliveries that wait for their next attempt: to bring them forward, or to end them. A
 * request is a record of `recalls`; the replicas of delivery do it, each for its partitions, and say there how far they are.
 */
import { randomUUID } from 'node:crypto';
import { TailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import {
  decodeRecall,
  encodeRecallRequest,
  type RecallKind,
  type RecallProgress,
  type RecallRequest,
  type TopicNames,
} from '@tailrace/topics';

/** A request, and how far it is. */
export interface Recall extends Omit<RecallRequest, 'partitions'> {
  /** `stopped`: in a partition at least, because the receiver was down again, or by a later request. */
  readonly state: RecallProgress['state'];
  /** Deliveries that were brought forward, or ended. */
  readonly count: number;
  readonly partitions: { readonly total: number; readonly ended: number };
}

export interface Recalls {
  /**
   * Resolves once Kafka has the request. It ends the one before for this destination.
   *
   * @throws TailraceError `kafka-unavailable`
   */
  request(kind: RecallKind, destinationId: string): Promise<Recall>;
  /** The last one of a destination. */
  find(destinationId: string): Recall | undefined;
  close(): Promise<void>;
}

const giveUpAfterMs = 10_000;

export async function openRecalls(
  kafka: Pick<Kafka, 'follow' | 'publisher' | 'describeTopics'>,
  names: Pick<TopicNames, 'recalls' | 'deliveries'>,
): Promise<Recalls> {
  const requests = new Map<string, RecallRequest>();
  /** By destination and partition. */
  const progress = new Map<string, Map<number, RecallProgress>>();
  const follower = await kafka.follow({
    topic: names.recalls,
    onRecord(record) {
      const decoded = decodeRecall(record);
      if (decoded?.kind === 'request') requests.set(decoded.request.destinationId, decoded.request);
      if (decoded?.kind !== 'state' || !decoded.state.request) return;
      const { destinationId, partition, request } = decoded.state;
      const ofDestination = progress.get(destinationId) ?? new Map<number, RecallProgress>();
      progress.set(destinationId, ofDestination.set(partition, request));
    },
  });
  const publisher = kafka.publisher({ giveUpAfterMs });

  const find = (destinationId: string): Recall | undefined => {
    const request = requests.get(destinationId);
    if (!request) return undefined;
    const { partitions: total, ...rest } = request;
    const all = [...(progress.get(destinationId)?.values() ?? [])].filter(({ id }) => id === request.id);
    const over = all.filter(({ state }) => state !== 'running');
    const ended = Math.min(over.length, total);
    const last = over.some(({ state }) => state === 'stopped') ? 'stopped' : 'done';
    return {
      ...rest,
      state: ended < total ? 'running' : last,
      count: all.reduce((sum, { count }) => sum + count, 0),
      partitions: { total, ended },
    };
  };

  return {
    async request(kind, destinationId) {
      const partitions = (await kafka.describeTopics([names.deliveries])).get(names.deliveries)?.partitions;
      if (partitions === undefined) throw new TailraceError('topic-missing');
      const request: RecallRequest = {
        ...{ id: randomUUID(), kind, destinationId, partitions },
        requestedAt: new Date().toISOString(),
      };
      await publisher.publish(encodeRecallRequest(names.recalls, request));
      await follower.refresh();
      const { requestedAt, id } = request;
      // Where another was made at the same moment, it is the other that is found.
      const found = find(destinationId);
      if (found?.id === id) return found;
      return {
        ...{ id, kind, destinationId, requestedAt, state: 'stopped', count: 0 },
        partitions: { total: partitions, ended: 0 },
      };
    },
    find,
    close: () => follower.close(),
  };
}
