/**
 * Defect: the library copies the messages of a partition once for each of them, so a request takes time quadratic in its messages.
 *
 * Upstream: tulios/kafkajs#1576, a pull request.
 *
 * Patch: linear time.
 */
import { replacing } from '../apply.ts';

interface Grouping {
  readonly topic: string;
  readonly partitionMetadata: readonly unknown[];
  readonly messages: readonly unknown[];
  readonly partitioner: (args: object) => number;
}

type Group = (grouping: Grouping) => Record<number, unknown[]>;

export const messagesByPartition = replacing<Group>(
  'producer/groupMessagesPerPartition',
  () =>
    ({ topic, partitionMetadata, messages, partitioner }) => {
      const groups: Record<number, unknown[]> = {};
      for (const message of messages) {
        (groups[partitioner({ topic, partitionMetadata, message })] ??= []).push(message);
      }
      return groups;
    },
);
