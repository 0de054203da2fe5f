/**
 * Defects: the library throws the error of the first partition that failed, without saying which it is or what became of the others. For most
 * errors it then repeats the whole request for some seconds, which holds up the records of partitions that work.
 *
 * Upstream: no issue found.
 *
 * Patch: the same error (of version 7) carries the result of each partition, and the request is repeated only after errors for which the library
 * must look up the leader.
 */
import { libraryModule, replacing } from '../apply.ts';

const { failure, createErrorFromCode } = libraryModule('protocol/error') as {
  failure: (code: number) => boolean;
  createErrorFromCode: (code: number) => AnswerError;
};

interface AnswerError extends Error {
  readonly type: string;
  retriable: boolean;
  results?: readonly PartitionResult[];
}

interface ProduceAnswer {
  readonly topics: readonly {
    readonly topicName: string;
    readonly partitions: readonly { readonly partition: number; readonly errorCode: number }[];
  }[];
}

/** The result of one partition of a produce request. */
export interface PartitionResult {
  readonly topic: string;
  readonly partition: number;
  /** The name of Kafka's error; undefined if the records are written. */
  readonly error?: string | undefined;
}

export const produceResponse = replacing(
  'protocol/requests/produce/v7/response',
  (original: { readonly parse: (answer: ProduceAnswer) => Promise<ProduceAnswer> }) => ({
    ...original,
    // Async, so that an error becomes a rejection.
    parse: async (answer: ProduceAnswer) => Promise.resolve(readAnswer(answer)),
  }),
);

/** Errors after which the library looks up the leader and repeats the request. */
const staleMetadata = ['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION'];

function readAnswer(answer: ProduceAnswer): ProduceAnswer {
  let first: AnswerError | undefined;
  const results: PartitionResult[] = [];
  for (const { topicName: topic, partitions } of answer.topics) {
    for (const { partition, errorCode } of partitions) {
      const error = failure(errorCode) ? createErrorFromCode(errorCode) : undefined;
      first ??= error;
      results.push({ topic, partition, error: error?.type });
    }
  }
  if (!first) return answer;
  first.results = results;
  first.retriable = results.every(({ error }) => error === undefined || staleMetadata.includes(error));
  throw first;
}
