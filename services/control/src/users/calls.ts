/** The past calls of a user, from `events`: the newest first, some slices of the user's partition with each request. */
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import { describeCall, parse, textOrDigits, type Accepted, type SourceLookUp } from '../history/why.ts';
import { readBackward, type BackwardPage } from '../records/backward.ts';
import { unlessAborted } from '../records/deadline.ts';

export interface UserCall extends Accepted {
  readonly eventId: string | undefined;
}

/** @param userId of the call, or its anonymousId where it has no userId: the key of its record */
export async function readUserCalls(
  kafka: Pick<Kafka, 'partitioner' | 'offsets' | 'scan'>,
  topic: string,
  { userId, config, ...page }: UserCallsQuery,
): Promise<BackwardPage<UserCall>> {
  const { partitionOf } = await unlessAborted(page.signal, kafka.partitioner(topic));
  const written = Buffer.from(JSON.stringify(userId).slice(1, -1));
  const read = (record: ConsumedRecord): UserCall | undefined => {
    if (record.value?.includes(written) !== true) return undefined;
    const call = parse(record.value) ?? {};
    const own = textOrDigits(call['userId']) ?? textOrDigits(call['anonymousId']);
    if (own !== userId) return undefined;
    return { ...describeCall(config, record), eventId: textOrDigits(call['messageId']) };
  };
  return readBackward(kafka, { topic, partition: partitionOf(userId), ...page }, read);
}

interface UserCallsQuery {
  readonly userId: string;
  readonly config: SourceLookUp;
  readonly limit: number;
  readonly before: number | undefined;
  readonly signal: AbortSignal;
}
