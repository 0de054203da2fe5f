/**
 * The permissions of each part of Tailrace in Kafka: the ACLs of its user. `tailrace permissions` and the
 * chart are made from this table. test/infra/live/kafka-permissions.test.ts proves on a broker that these suffice and that each of them is needed.
 *
 * DescribeConfigs of a service is for the metric that compares the age of records with the retention of their topic; in control, for
 * replays of events.
 *
 * Kafka derives Describe from Read and Write, so Describe is listed only where neither is. Scans, followers and tails read in
 * consumer groups that are named after their topic.
 */

/** As Strimzi's KafkaUser names them; kafka-acls.sh takes the same names. */
export type Operation = 'Read' | 'Write' | 'Create' | 'Alter' | 'Describe' | 'DescribeConfigs';

export interface Permission {
  readonly type: 'topic' | 'group' | 'transactionalId';
  /** Without the prefix of the installation. */
  readonly name: string;
  readonly patternType: 'literal' | 'prefix';
  /** Whether the prefix of the installation (TAILRACE_TOPIC_PREFIX) stands before the name. */
  readonly prefixed: boolean;
  readonly operations: readonly Operation[];
}

export interface UserPermissions {
  /** The part of Tailrace: a service, or the work of a command. */
  readonly user: string;
  readonly purpose: string;
  readonly resources: readonly Permission[];
}

type Make = (name: string, ...operations: Operation[]) => Permission;
const of =
  (type: Permission['type'], patternType: Permission['patternType'], prefixed = true): Make =>
  (name, ...operations) => ({ type, name, patternType, prefixed, operations });

const topic = of('topic', 'literal');
const ofKafka = of('topic', 'literal', false);
/** The retry topics of every schedule, also an earlier one. */
const tiers = (...operations: Operation[]): Permission =>
  of('topic', 'prefix')('deliveries.retry.', ...operations);
const everyTopic = (...operations: Operation[]): Permission => of('topic', 'prefix')('', ...operations);
const group = (name: string, ...operations: Operation[]): Permission =>
  of('group', 'literal')(name, ...operations);
/** The groups in which a reader of a topic reads it. */
const reader = (kind: 'follower' | 'scan' | 'tail', name: string): Permission =>
  of('group', 'prefix')(`${name}.${kind}.`, 'Read');
const writer = (id: string): Permission => of('transactionalId', 'literal')(id, 'Write');

const followsConfig = [topic('config', 'Read'), reader('follower', 'config')];
const writesConfig = [topic('config', 'Read', 'Write'), reader('follower', 'config'), writer('config')];
/** Every command that writes leaves an entry. */
const writesAudit = topic('audit', 'Write');

/** The topics that the router and delivery consume, besides the retry topics. */
const consumed = ['events', 'events.waiting', 'deliveries', 'deliveries.replay'];
/** All topics in which a trace of an event can be, besides the retry topics. */
const searched = [...consumed, 'decisions', 'events.rejected', 'deliveries.dead', 'attempts'];
const readsTiers = of('group', 'prefix')('deliveries.retry.', 'Read');

export const permissions: readonly UserPermissions[] = [
  {
    user: 'ingest',
    purpose: 'the service ingest',
    resources: [topic('events', 'Write'), topic('events.rejected', 'Write'), ...followsConfig],
  },
  {
    user: 'router',
    purpose: 'the service router',
    resources: [
      topic('events', 'Read', 'DescribeConfigs'),
      topic('events.waiting', 'Read', 'Write', 'DescribeConfigs'),
      topic('events.rejected', 'Read', 'Write'),
      topic('deliveries', 'Write'),
      topic('usage', 'Write'),
      topic('decisions', 'Write'),
      topic('suppressions', 'Read'),
      group('router', 'Read'),
      reader('scan', 'events'),
      reader('scan', 'events.waiting'),
      reader('scan', 'events.rejected'),
      reader('follower', 'suppressions'),
      ...followsConfig,
    ],
  },
  {
    user: 'delivery',
    purpose: 'the service delivery',
    resources: [
      topic('deliveries', 'Read', 'DescribeConfigs'),
      tiers('Read', 'Write', 'DescribeConfigs'),
      topic('deliveries.replay', 'Read', 'DescribeConfigs'),
      topic('deliveries.dead', 'Write'),
      topic('attempts', 'Write'),
      topic('recalls', 'Read', 'Write'),
      topic('suppressions', 'Read'),
      group('delivery', 'Read'),
      readsTiers,
      reader('follower', 'recalls'),
      reader('follower', 'suppressions'),
      ...followsConfig,
    ],
  },
  {
    user: 'control',
    purpose: 'the service control',
    resources: [
      ...writesConfig,
      topic('events', 'Read', 'Write'),
      topic('events.waiting', 'Read'),
      topic('events.rejected', 'Read'),
      topic('events.restore', 'Read'),
      topic('deliveries', 'Read', 'DescribeConfigs'),
      tiers('Read'),
      topic('deliveries.dead', 'Read'),
      topic('deliveries.replay', 'Read', 'Write'),
      topic('attempts', 'Read'),
      topic('usage', 'Read'),
      topic('decisions', 'Read'),
      topic('recalls', 'Read', 'Write'),
      topic('replays', 'Read', 'Write'),
      topic('audiences', 'Read', 'Write'),
      topic('audiences.syncs', 'Read', 'Write'),
      topic('deletions', 'Read', 'Write'),
      topic('suppressions', 'Read', 'Write'),
      topic('destinations.health', 'Read', 'Write'),
      topic('audit', 'Read', 'Write'),
      topic('idempotency', 'Read', 'Write'),
      topic('sessions', 'Read', 'Write'),
      // Of the history, of streams of calls, and of scans for the body of a delivery, a replay or a search.
      reader('tail', 'deliveries'),
      reader('tail', 'events'),
      reader('scan', 'deliveries'),
      readsTiers,
      reader('scan', 'deliveries.dead'),
      reader('scan', 'deliveries.replay'),
      reader('scan', 'events'),
      reader('scan', 'events.waiting'),
      reader('scan', 'events.rejected'),
      reader('scan', 'events.restore'),
      reader('scan', 'audiences'),
      reader('scan', 'audit'),
      reader('follower', 'idempotency'),
      reader('scan', 'idempotency'),
      reader('follower', 'sessions'),
      reader('follower', 'audiences.syncs'),
      reader('follower', 'deletions'),
      reader('follower', 'recalls'),
      reader('follower', 'replays'),
      reader('follower', 'suppressions'),
      reader('follower', 'destinations.health'),
      writer('deliveries.replay'),
      writer('replays'),
      writer('deletions'),
      writer('destinations.health'),
      of('transactionalId', 'prefix')('audiences/', 'Write'),
      // Whether the router has finished an event of which no decision is known, and delivery a record that nothing follows.
      group('router', 'Describe'),
      group('delivery', 'Describe'),
    ],
  },
  {
    user: 'topics',
    purpose: '`tailrace topics apply` and `topics list`',
    resources: [everyTopic('Create', 'Alter', 'Describe', 'DescribeConfigs'), writesAudit, ...followsConfig],
  },
  {
    user: 'apply',
    purpose: '`tailrace apply` and `config import`',
    resources: [...writesConfig, writesAudit],
  },
  { user: 'export', purpose: '`tailrace config export`', resources: followsConfig },
  {
    user: 'doctor',
    purpose: '`tailrace doctor`',
    resources: [
      everyTopic('Describe', 'DescribeConfigs'),
      ...followsConfig,
      // The first unfinished record of each partition, whose age is the lag in seconds.
      ...consumed.map((name) => topic(name, 'Read')),
      ...consumed.map((name) => reader('scan', name)),
      tiers('Read'),
      readsTiers,
      group('router', 'Describe'),
      group('delivery', 'Describe'),
      ofKafka('__consumer_offsets', 'Describe', 'DescribeConfigs'),
      ofKafka('__transaction_state', 'Describe', 'DescribeConfigs'),
    ],
  },
  {
    user: 'why',
    purpose: '`tailrace why --around`',
    resources: [
      ...searched.map((name) => topic(name, 'Read', 'DescribeConfigs')),
      ...searched.map((name) => reader('scan', name)),
      tiers('Read', 'DescribeConfigs'),
      readsTiers,
      // Whether the router has routed the event, and delivery has finished its records.
      group('router', 'Describe'),
      group('delivery', 'Describe'),
      ...followsConfig,
    ],
  },
  {
    user: 'dead',
    purpose: '`tailrace dead list`, `dead show` and `dead replay`',
    resources: [
      topic('deliveries.dead', 'Read'),
      topic('deliveries.replay', 'Read', 'Write'),
      reader('scan', 'deliveries.dead'),
      reader('scan', 'deliveries.replay'),
      writer('deliveries.replay'),
      writesAudit,
    ],
  },
  {
    user: 'producer',
    purpose: 'a producer of your own that writes events into Kafka',
    resources: [topic('events', 'Write')],
  },
];
