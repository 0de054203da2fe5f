/**
 * Kafka's authorization errors name neither the resource nor the operation. So the library's requests keep what they were made
 * from, and an error of a request is completed with it.
 */

/** The permission that is missing. */
export interface Refusal {
  readonly operation: string;
  readonly resource: 'topic' | 'group' | 'transactional id' | 'cluster';
  readonly names: readonly string[];
}

/** A request of the library, with what it was made from. */
export interface DescribedRequest {
  readonly request: { readonly apiKey: number; readonly apiName?: string };
  /** The argument of the function that makes the request. */
  madeFrom?: unknown;
}

const resources = {
  TOPIC_AUTHORIZATION_FAILED: 'topic',
  GROUP_AUTHORIZATION_FAILED: 'group',
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED: 'transactional id',
  CLUSTER_AUTHORIZATION_FAILED: 'cluster',
} as const;

/** The operation on the resource, by the library's name of the request. Read and Write include Describe. */
const operations: Readonly<Record<string, Partial<Record<Refusal['resource'], string>>>> = {
  Produce: { topic: 'Write' },
  InitProducerId: { 'transactional id': 'Write', cluster: 'IdempotentWrite, or Write on a topic,' },
  AddPartitionsToTxn: { topic: 'Write', 'transactional id': 'Write' },
  AddOffsetsToTxn: { group: 'Read', 'transactional id': 'Write' },
  EndTxn: { 'transactional id': 'Write' },
  Fetch: { topic: 'Read' },
  OffsetCommit: { topic: 'Read', group: 'Read' },
  JoinGroup: { group: 'Read' },
  SyncGroup: { group: 'Read' },
  Heartbeat: { group: 'Read' },
  LeaveGroup: { group: 'Read' },
  GroupCoordinator: { group: 'Read or Describe', 'transactional id': 'Write' },
  CreateTopics: { topic: 'Create', cluster: 'Create' },
  CreatePartitions: { topic: 'Alter' },
  DescribeConfigs: { topic: 'DescribeConfigs' },
};

/** Adds the refusal to an authorization error. Other errors are returned unchanged. */
export function withRefusal(error: unknown, { request, madeFrom }: DescribedRequest): unknown {
  const { type = '' } = error as { readonly type?: string };
  const resource = resources[type as keyof typeof resources] as Refusal['resource'] | undefined;
  if (resource === undefined) return error;
  const operation = operations[request.apiName ?? '']?.[resource] ?? 'Describe';
  const refusal: Refusal = { operation, resource, names: namesIn(resource, madeFrom, error) };
  return Object.assign(error as Error, { refusal });
}

interface MadeFrom {
  readonly topics?: readonly (string | { readonly topic?: string })[];
  readonly topicPartitions?: readonly { readonly topic: string }[];
  readonly resources?: readonly { readonly name: string }[];
  readonly groupId?: string;
  readonly groupIds?: readonly string[];
  readonly coordinatorKey?: string;
  readonly transactionalId?: string;
}

/** The topics of a request may be many, and one of them is refused. A response to a produce request names it. */
function namesIn(resource: Refusal['resource'], madeFrom: unknown, error: unknown): string[] {
  const from = (madeFrom ?? {}) as MadeFrom;
  const names = {
    topic: () => {
      const { results } = error as { results?: readonly { topic: string; error?: string }[] };
      const refused = results?.filter((result) => result.error === 'TOPIC_AUTHORIZATION_FAILED');
      const asked = refused ?? from.topics ?? from.topicPartitions ?? [];
      const topics = asked.map((one) => (typeof one === 'string' ? one : (one.topic ?? '')));
      return [...topics, ...(from.resources ?? []).map(({ name }) => name)];
    },
    group: () => from.groupIds ?? [from.groupId ?? from.coordinatorKey ?? ''],
    'transactional id': () => [from.transactionalId ?? from.coordinatorKey ?? ''],
    cluster: () => [],
  }[resource]();
  return [...new Set(names)].filter((name) => name !== '');
}
