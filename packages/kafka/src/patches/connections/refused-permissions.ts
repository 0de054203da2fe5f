/**
 * Defect: Kafka's authorization errors name neither the resource nor the operation, and the library passes them on without what it had asked for.
 *
 * Upstream: tulios/kafkajs#129 and #957, for topics.
 *
 * Patch: requests keep what they were made from, and an error of a request is completed with it.
 */
import { replacing, type LibraryClass } from '../apply.ts';
import type { ConnectionPool, MadeRequest } from './connection-pool.ts';
import type { Definition, LookUp, MakeRequest } from './request-versions.ts';

/** The permission that is missing. */
export interface Refusal {
  readonly operation: string;
  readonly resource: 'topic' | 'group' | 'transactional id' | 'cluster';
  readonly names: readonly string[];
}

export const requestContents = replacing('protocol/requests', (original: { readonly lookup: LookUp }) => ({
  ...original,
  lookup: (versions: unknown) => {
    const find = original.lookup(versions);
    return (apiKey: number, definition: Definition) => keepingContent(find(apiKey, definition));
  },
}));

function keepingContent(make: MakeRequest): MakeRequest {
  return (content) => {
    const request = make(content);
    request.madeFrom = content;
    return request;
  };
}

export const refusedPermissions = replacing(
  'network/connectionPool',
  (Original: LibraryClass<ConnectionPool>): LibraryClass<ConnectionPool> =>
    class DescribingPool extends Original {
      override send(request: MadeRequest): Promise<unknown> {
        return super.send(request).catch((error: unknown) => {
          throw withRefusal(error, request);
        });
      }
    },
);

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
function withRefusal(error: unknown, made: MadeRequest): unknown {
  const { type = '' } = error as { readonly type?: string };
  const resource = resources[type as keyof typeof resources] as Refusal['resource'] | undefined;
  if (resource === undefined) return error;
  const operation = operations[made.request.apiName ?? '']?.[resource] ?? 'Describe';
  const refusal: Refusal = { operation, resource, names: namesIn(resource, made.madeFrom, error) };
  return Object.assign(error as Error, { refusal });
}

/** The parts of requests that name a resource. */
interface Content {
  readonly topics?: readonly (string | { readonly topic?: string })[];
  readonly topicPartitions?: readonly { readonly topic: string }[];
  readonly resources?: readonly { readonly name: string }[];
  readonly groupId?: string;
  readonly groupIds?: readonly string[];
  readonly coordinatorKey?: string;
  readonly transactionalId?: string;
}

/** The topics of a request may be many, and one of them is refused. A response to a produce request names it. */
function namesIn(resource: Refusal['resource'], content: unknown, error: unknown): string[] {
  const from = (content ?? {}) as Content;
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
