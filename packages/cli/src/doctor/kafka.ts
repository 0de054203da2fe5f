/** Checks brokers, stored configuration and consumer groups; calls the checks of topics and durability. */
import { createConnection } from 'node:net';
import { openConfig } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import type { GroupReport, Kafka, KafkaLog } from '@tailrace/kafka';
import { topicNames } from '@tailrace/topology';
import type { CommandContext } from '../command.ts';
import { checkDurability } from './durability.ts';
import { groupTopics, lagFindings, lagOf, type TopicLag } from './lag.ts';
import { replicationFindings, topicStates, type TopicState } from './replication.ts';
import { checkTopics } from './topics.ts';
import { findingsAbout, type Finding } from './finding.ts';
import { withKafka } from '../kafka.ts';
import type { SecretKeys, TopicSettings } from '../settings.ts';
import { countOf } from '../terminal/table.ts';

const connectTimeoutMs = 3_000;
/** Records that a router or a delivery service processes in a few seconds. */
const highLag = 10_000;

/** The consumer groups, as Kafka reports them. */
interface GroupsReport {
  /** Members of each consumer group. */
  readonly members: Readonly<Record<'router' | 'delivery', number>>;
  readonly lags: readonly TopicLag[];
  readonly findings: readonly Finding[];
}

export interface KafkaReport {
  readonly findings: readonly Finding[];
  readonly topics: readonly TopicState[];
  readonly lags: readonly TopicLag[];
  /** Undefined if the groups could not be read. */
  readonly members: GroupsReport['members'] | undefined;
}

export async function checkKafka(context: CommandContext): Promise<KafkaReport> {
  const findings: Finding[] = [];
  let groups: GroupsReport | undefined;
  let states: readonly TopicState[] = [];
  try {
    await withKafka(context, async (kafka, settings, secretKeys) => {
      findings.push(await checkBrokers(kafka));
      const add = (more: readonly Finding[]): void => {
        for (const finding of more) findings.push(finding);
      };
      const topics = await checkTopics(kafka, settings);
      add(topics.findings);
      add(await checkDurability(kafka, settings));
      states = await topicStates(kafka, settings);
      add(replicationFindings(states));
      if (topics.missing) return;
      add(await checkConfiguration(kafka, settings, secretKeys));
      groups = await checkGroups(kafka, settings);
      add(groups.findings);
    });
  } catch (error) {
    if (!isTailraceError(error)) throw error;
    // Invalid settings are reported by the check of the settings.
    if (error.code !== 'invalid-settings') {
      const hint =
        'If the services are ready, Kafka cannot be reached from here only: check the network and these settings.';
      findings.push(findingsAbout('kafka').unknown(error.message, hint));
    }
  }
  return { findings, topics: states, lags: groups?.lags ?? [], members: groups?.members };
}

/** Connects to each broker at its advertised address: an address that clients cannot reach is a common mistake. */
async function checkBrokers(kafka: Kafka): Promise<Finding> {
  const { ok, fail } = findingsAbout('brokers');
  const { brokers } = await kafka.inspectCluster();
  const reached = await Promise.all(brokers.map(({ host, port }) => canConnect(host, port)));
  const unreachable = brokers.filter((_, index) => !reached[index]);
  if (unreachable.length === 0) return ok(`${countOf(brokers.length, 'broker')}, all reachable`);
  const addresses = unreachable.map(({ id, host, port }) => `${id} at ${host}:${port}`).join(', ');
  return fail(
    `${unreachable.length} of ${countOf(brokers.length, 'broker')} cannot be reached from here: ${addresses}.`,
    'Start them, or set advertised.listeners of the brokers to addresses that clients can reach.',
  );
}

function canConnect(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port, timeout: connectTimeoutMs });
    const end = (reached: boolean) => () => {
      socket.destroy();
      resolve(reached);
    };
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false));
  });
}

/** Checks that every entry of the configuration can be read, including its secrets. */
async function checkConfiguration(
  kafka: Kafka,
  { prefix, owner }: TopicSettings,
  secretKeys: SecretKeys,
): Promise<Finding[]> {
  const { ok, warn, fail } = findingsAbout('config');
  const unreadable: Finding[] = [];
  const log: Pick<KafkaLog, 'warn'> = {
    warn(fields, message) {
      const { key, problem = '' } = fields as { readonly key?: string; readonly problem?: string };
      // Destinations that need a newer release are one finding, below.
      if (key === undefined) return;
      const hint = 'Apply the entry again, or delete it.';
      unreadable.push(warn(`${key}: ${message}: ${problem}.`, hint));
    },
  };
  try {
    const config = await openConfig(kafka, topicNames(prefix).config, log, { secretKeys, owner });
    const counts = `${countOf(config.sources().length, 'source')}, ${countOf(config.destinations().length, 'destination')}`;
    const unmet = config.unmet('router') ?? config.unmet('delivery');
    if (unmet) unreadable.push(fail(unmet.message));
    await config.close();
    return [...unreadable, ok(counts)];
  } catch (error) {
    if (isTailraceError(error, 'other-owner')) return [fail(error.message)];
    if (!isTailraceError(error, 'secret-locked')) throw error;
    const lines = error.message.split('\n');
    return [fail(lines.slice(0, -1).join(' '), lines.at(-1) ?? '')];
  }
}

async function checkGroups(kafka: Kafka, { prefix, retryScheduleMs }: TopicSettings): Promise<GroupsReport> {
  const names = topicNames(prefix);
  const topics = groupTopics(names, retryScheduleMs);
  const router = await kafka.inspectGroup(`${prefix}router`, topics.router);
  const delivery = await kafka.inspectGroup(`${prefix}delivery`, topics.delivery);
  const lags = (
    await Promise.all([
      lagOf(kafka, names, { group: 'router', ...router }),
      lagOf(kafka, names, { group: 'delivery', ...delivery }),
    ])
  ).flat();
  const retention = await kafka.topicSetting([...topics.router, ...topics.delivery], 'retention.ms');
  const retentionMs = new Map(Array.from(retention, ([topic, value]) => [topic, Number(value)]));
  const live = [names.deliveries, names.deliveriesReplay];
  const tiers = topics.delivery.filter((topic) => !live.includes(topic));
  const waiting = sumOf(delivery, tiers);
  const forSchemas = sumOf(router, [names.eventsWaiting]);
  return {
    members: { router: router.members, delivery: delivery.members },
    lags,
    findings: [
      groupFinding(
        'router',
        router.members,
        sumOf(router, [names.events]),
        forSchemas === 0 ? '' : `, ${countOf(forSchemas, 'record')} waiting for a schema`,
      ),
      groupFinding(
        'delivery',
        delivery.members,
        sumOf(delivery, live),
        waiting === 0 ? '' : `, ${countOf(waiting, 'record')} in the retry topics`,
      ),
      ...lagFindings(lags, retentionMs),
    ],
  };
}

function sumOf({ lag }: GroupReport, topics: readonly string[]): number {
  return topics.reduce((total, topic) => total + (lag.get(topic) ?? 0), 0);
}

function groupFinding(service: string, members: number, behind: number, more: string): Finding {
  const { ok, warn, fail } = findingsAbout(service);
  const lag = `${behind === 0 ? 'no backlog' : `backlog of ${countOf(behind, 'record')}`}${more}`;
  if (members === 0) {
    const hint = 'Start it. If it does not start, see its log.';
    return fail(`no ${service} is running; ${lag}.`, hint);
  }
  const says = `${countOf(members, 'member')} in its consumer group; ${lag}`;
  if (behind < highLag) return ok(says);
  return warn(says, 'If the backlog grows, add replicas, up to the number of partitions.');
}
