/** Checks brokers, stored configuration and consumer groups; calls the checks of topics and durability. */
import { createConnection } from 'node:net';
import { openConfig } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import type { Kafka, KafkaLog } from '@tailrace/kafka';
import { tierDelaysMs, topicNames } from '@tailrace/topics';
import type { CommandContext } from '../command.ts';
import { checkDurability } from './durability.ts';
import { checkTopics } from './topics.ts';
import type { Finding } from './finding.ts';
import { withKafka } from '../kafka.ts';
import type { SecretKeys, TopicSettings } from '../settings.ts';
import { countOf } from '../terminal/table.ts';

const connectTimeoutMs = 3_000;
/** Records that a router or a delivery service processes in a few seconds. */
const highLag = 10_000;

export async function checkKafka(context: CommandContext): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    await withKafka(context, async (kafka, settings, secretKeys) => {
      findings.push(await checkBrokers(kafka));
      const add = (more: readonly Finding[]): void => {
        for (const finding of more) findings.push(finding);
      };
      const topics = await checkTopics(kafka, settings);
      add(topics.findings);
      add(await checkDurability(kafka, settings));
      if (topics.missing) return;
      add(await checkConfiguration(kafka, settings, secretKeys));
      add(await checkGroups(kafka, settings));
    });
  } catch (error) {
    // Reported by the check of the settings.
    if (isTailraceError(error, 'invalid-settings')) return [];
    if (!isTailraceError(error)) throw error;
    findings.push({ level: 'fail', about: 'kafka', says: error.message });
  }
  return findings;
}

/** Connects to each broker at its advertised address: an address that clients cannot reach is a common mistake. */
async function checkBrokers(kafka: Kafka): Promise<Finding> {
  const about = 'brokers';
  const { brokers } = await kafka.inspectCluster();
  const reached = await Promise.all(brokers.map(({ host, port }) => canConnect(host, port)));
  const unreachable = brokers.filter((_, index) => !reached[index]);
  if (unreachable.length === 0)
    return { level: 'ok', about, says: `${countOf(brokers.length, 'broker')}, all reachable` };
  const addresses = unreachable.map(({ id, host, port }) => `${id} at ${host}:${port}`).join(', ');
  return {
    level: 'fail',
    about,
    says: `${unreachable.length} of ${countOf(brokers.length, 'broker')} cannot be reached from here: ${addresses}.`,
    hint: 'Start them, or set advertised.listeners of the brokers to addresses that clients can reach.',
  };
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
  { prefix }: TopicSettings,
  secretKeys: SecretKeys,
): Promise<Finding[]> {
  const about = 'config';
  const unreadable: Finding[] = [];
  const log: Pick<KafkaLog, 'warn'> = {
    warn(fields, message) {
      const { key = '', problem = '' } = fields as { readonly key?: string; readonly problem?: string };
      const hint = 'Apply the entry again, or delete it.';
      unreadable.push({ level: 'warn', about, says: `${key}: ${message}: ${problem}.`, hint });
    },
  };
  try {
    const config = await openConfig(kafka, topicNames(prefix).config, log, { secretKeys });
    const counts = `${countOf(config.sources().length, 'source')}, ${countOf(config.destinations().length, 'destination')}`;
    await config.close();
    return [...unreadable, { level: 'ok', about, says: counts }];
  } catch (error) {
    if (!isTailraceError(error, 'secret-locked')) throw error;
    const lines = error.message.split('\n');
    return [{ level: 'fail', about, says: lines.slice(0, -1).join(' '), hint: lines.at(-1) ?? '' }];
  }
}

async function checkGroups(kafka: Kafka, { prefix, retryScheduleMs }: TopicSettings): Promise<Finding[]> {
  const names = topicNames(prefix);
  const tiers = tierDelaysMs(retryScheduleMs).map((delayMs) => names.retryTier(delayMs));
  const router = await kafka.inspectGroup(`${prefix}router`, [names.events, names.eventsWaiting]);
  const delivery = await kafka.inspectGroup(`${prefix}delivery`, [
    names.deliveries,
    names.deliveriesReplay,
    ...tiers,
  ]);
  const sum = (topics: readonly string[]): number =>
    topics.reduce((total, topic) => total + (delivery.lag.get(topic) ?? 0), 0);
  const waiting = sum(tiers);
  const forSchemas = router.lag.get(names.eventsWaiting) ?? 0;
  return [
    groupFinding(
      'router',
      router.members,
      router.lag.get(names.events) ?? 0,
      forSchemas === 0 ? '' : `, ${countOf(forSchemas, 'record')} waiting for a schema`,
    ),
    groupFinding(
      'delivery',
      delivery.members,
      sum([names.deliveries, names.deliveriesReplay]),
      waiting === 0 ? '' : `, ${countOf(waiting, 'record')} in the retry topics`,
    ),
  ];
}

function groupFinding(service: string, members: number, behind: number, more: string): Finding {
  const about = service;
  const lag = `${behind === 0 ? 'no backlog' : `backlog of ${countOf(behind, 'record')}`}${more}`;
  if (members === 0) {
    const says = `no ${service} is running; ${lag}.`;
    return {
      level: 'fail',
      about,
      says,
      hint: `Start it with npm run ${service}; if it does not start, see its log.`,
    };
  }
  const says = `${countOf(members, 'member')} in its consumer group; ${lag}`;
  if (behind < highLag) return { level: 'ok', about, says };
  return {
    level: 'warn',
    about,
    says,
    hint: 'If the backlog grows, add replicas, up to the number of partitions.',
  };
}
