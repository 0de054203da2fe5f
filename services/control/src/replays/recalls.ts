/**
 * Recalls: requests to the delivery service to retry or drain the pending deliveries of a destination. A request is a record
 * of the topic `recalls`. Each delivery replica does its partitions, and writes its progress to the same topic.
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
  type ValueOf,
} from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import Type from 'typebox';
import { time } from '../http/schemas.ts';

/** A request and its progress. */
export const recallSchema = Type.Object({
  id: Type.String(),
  kind: Type.Enum(['retry', 'drain']),
  destinationId: Type.String(),
  requestedAt: time('the recall covers deliveries that were pending at this time'),
  state: Type.Enum(['running', 'done', 'stopped'], {
    description:
      'stopped: ended early, because the receiver is down, the destination is disabled, or a later request replaced this one',
  }),
  count: Type.Integer({ minimum: 0, description: 'deliveries retried or drained so far' }),
  partitions: Type.Object(
    { total: Type.Integer({ minimum: 0 }), ended: Type.Integer({ minimum: 0 }) },
    { description: 'partitions of `deliveries`; the delivery replica that owns a partition does its part' },
  ),
});

export type Recall = ValueOf<typeof recallSchema>;

const giveUpAfterMs = 10_000;

export type Recalls = Awaited<ReturnType<typeof openRecalls>>;

export async function openRecalls(
  kafka: Pick<Kafka, 'follow' | 'publisher' | 'describeTopics' | 'listTopics' | 'ends'>,
  names: Pick<TopicNames, 'recalls' | 'deliveries' | 'retryTierDelayMs'>,
) {
  const requests = new Map<string, RecallRequest>();
  /** By destination, then by partition. */
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

  const recallOf = ({ id, kind, destinationId, requestedAt, partitions: total }: RecallRequest): Recall => {
    const all = [...(progress.get(destinationId)?.values() ?? [])].filter((one) => one.id === id);
    const ended = all.filter(({ state }) => state !== 'running');
    const endState = ended.some(({ state }) => state === 'stopped') ? 'stopped' : 'done';
    return {
      id,
      kind,
      destinationId,
      requestedAt,
      state: ended.length < total ? 'running' : endState,
      count: all.reduce((sum, { count }) => sum + count, 0),
      partitions: { total, ended: Math.min(ended.length, total) },
    };
  };

  /** Read before the request is written, so that it covers everything that waited when it was asked for. */
  const retryEnds = async (): Promise<Record<string, readonly number[]>> => {
    const topics = (await kafka.listTopics()).filter((topic) => names.retryTierDelayMs(topic) !== undefined);
    const ends = topics.map(async (topic) => {
      const found = await kafka.ends(topic);
      return [
        topic,
        Array.from({ length: found.size }, (_, partition) => found.get(partition) ?? 0),
      ] as const;
    });
    return Object.fromEntries(await Promise.all(ends));
  };

  return {
    /**
     * Resolves once the request is in Kafka. It replaces the destination's previous request.
     *
     * @throws TailraceError `kafka-unavailable`, `topic-missing`
     */
    async request(kind: RecallKind, destinationId: string): Promise<Recall> {
      const partitions = (await kafka.describeTopics([names.deliveries])).get(names.deliveries)?.partitions;
      if (partitions === undefined) throw new TailraceError('topic-missing');
      const request: RecallRequest = {
        id: randomUUID(),
        kind,
        destinationId,
        partitions,
        requestedAt: new Date().toISOString(),
        ends: await retryEnds(),
      };
      await publisher.publish(encodeRecallRequest(names.recalls, request));
      await follower.refresh();
      const recall = recallOf(request);
      // A request by another instance may have replaced this one already.
      return requests.get(destinationId)?.id === request.id ? recall : { ...recall, state: 'stopped' };
    },
    /** The latest request of a destination. */
    find(destinationId: string): Recall | undefined {
      const request = requests.get(destinationId);
      return request && recallOf(request);
    },
    /** Resolves once everything that the topic contains is known. @throws TailraceError `kafka-unavailable` */
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  };
}
