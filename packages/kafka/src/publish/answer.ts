/** Evaluates the answer to a produce request, for each partition. Pure. */
import { TailraceError, type ErrorCode } from '@tailrace/errors';
import { errorChain } from '../failure.ts';
import type { PartitionResult } from '../patches/writing/produce-response.ts';
import { keyOf, type Pending } from './pending.ts';

const notAnswered = 'NOT_ANSWERED';

/**
 * Returns Kafka's error for each partition of the request that is not known to be written; undefined if there was no answer.
 * The answer may leave out partitions: those that the library does not know, and those of another broker.
 */
export function errorsByPartition(
  request: readonly Pending[],
  error: unknown,
): ReadonlyMap<string, string> | undefined {
  const answered = errorChain(error).find((cause) => 'results' in cause) as
    | { readonly results: readonly PartitionResult[] }
    | undefined;
  if (!answered) return undefined;
  const errors = new Map(request.map((pending) => [keyOf(pending), notAnswered]));
  for (const { topic, partition, error } of answered.results) {
    if (error === undefined) errors.delete(`${topic}/${partition}`);
    else errors.set(`${topic}/${partition}`, error);
  }
  return errors;
}

export function codeOf(type: string | undefined): ErrorCode {
  if (type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE') return 'record-too-large';
  return type === 'UNKNOWN_TOPIC_OR_PARTITION' ? 'topic-missing' : 'kafka-unavailable';
}

/**
 * The library drops records for a partition that it does not know, without an error.
 *
 * @throws TailraceError with `results` if the answer leaves out a partition of the request
 */
export function checkAllWritten(
  request: readonly Pending[],
  written: readonly { readonly topicName?: string; readonly partition: number }[],
): void {
  const answered = new Set(written.map(({ topicName, partition }) => `${topicName ?? ''}/${partition}`));
  // All records of a partition have the same target.
  const targets = new Set(request.map(({ target }) => target));
  if ([...targets].every((target) => target && answered.has(`${target.topic}/${target.partition}`))) return;
  const missing = request.filter((pending) => !answered.has(keyOf(pending)));
  const results = request.flatMap((pending): PartitionResult[] => {
    const { topic, partition } = pending.target ?? {};
    const isWritten = topic !== undefined && partition !== undefined && answered.has(keyOf(pending));
    return isWritten ? [{ topic, partition }] : [];
  });
  const message = `Kafka did not acknowledge ${missing.length} of ${request.length} records. They are sent again.`;
  throw Object.assign(new TailraceError('kafka-unavailable', message), { results });
}

export function rejection(failure: TailraceError, isTooLarge: boolean, { record }: Pending): TailraceError {
  if (isTooLarge) return new TailraceError('record-too-large', undefined, { cause: failure });
  return topicMissing(record.topic, failure);
}

/** `topic-missing`, with the topic's name. */
export function topicMissing(topic: string, cause: Error): TailraceError {
  const message = `The topic ${topic} does not exist. Create the topics with \`npx tailrace topics apply\`.`;
  return new TailraceError('topic-missing', message, { cause });
}
