/**
 * Searches the topics for an event, without control: first the partitions in which its records are expected, then, if
 * nothing was found, all others. A key may be in another partition than expected: where partitions were added since, where a
 * producer has another partitioner, or where the event was sent under another id of the user.
 */
import type { Kafka } from '@tailrace/kafka';
import { tierDelaysMs, type TopicNames } from '@tailrace/topology';
import { inParallel } from '../../in-parallel.ts';
import type { SecretKeys } from '../../settings.ts';
import { createMatcher, type Match } from './match.ts';
import { expectedPartitions, knownDestinations } from './partitions.ts';
import { readTopic, type Period, type SearchedPartition, type SearchedTopic } from './read-topic.ts';

export interface SearchOptions {
  readonly eventId: string;
  readonly period: Period;
  readonly user: string | undefined;
  readonly allPartitions: boolean;
  readonly secretKeys: SecretKeys;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  readonly now: number;
}

export interface SearchResult {
  readonly matches: readonly Match[];
  /** Whether there were more matches than are kept. */
  readonly truncated: boolean;
  readonly topics: readonly SearchedTopic[];
}

const topicsAtTheSameTime = 4;
const mostMatches = 500;

export async function searchTopics(
  kafka: Kafka,
  names: TopicNames,
  options: SearchOptions,
): Promise<SearchResult> {
  const { eventId, user, allPartitions, period, signal, now } = options;
  const matches: Match[] = [];
  let truncated = false;
  const matcher = createMatcher(names, eventId);
  const onMatch = (match: Match): void => {
    if (matches.length < mostMatches) matches.push(match);
    else truncated = true;
  };
  const read = (topic: string, partitions: ReadonlySet<number> | undefined): Promise<SearchedTopic> =>
    readTopic(kafka, topic, {
      period,
      partitions,
      matcher,
      onMatch,
      signal,
      now,
      onProgress(done, total) {
        const percent = Math.floor((done / Math.max(1, total)) * 100);
        options.onProgress(`Searching ${topic}: ${percent} % of ${total.toLocaleString('en')} records`);
      },
    });

  const topics = await topicsToSearch(kafka, names);
  const narrow = user !== undefined && !allPartitions;
  const destinations = narrow ? await knownDestinations(kafka, names, options.secretKeys) : undefined;
  const readExpected = async (topic: string): Promise<SearchedTopic> => {
    if (!narrow) return read(topic, undefined);
    const expected = await expectedPartitions(kafka, names, topic, { user, destinations }).catch(
      () => undefined,
    );
    return read(topic, expected);
  };
  const first = await inParallel(topicsAtTheSameTime, topics, readExpected);
  if (matches.length > 0 || !narrow) return { matches, truncated, topics: first };

  const rest = await inParallel(topicsAtTheSameTime, first, async (searched) => {
    const isRead = new Set(searched.partitions.map(({ partition }) => partition));
    const others = new Set(
      Array.from({ length: searched.partitionCount }, (_, partition) => partition).filter(
        (partition) => !isRead.has(partition),
      ),
    );
    return others.size === 0 ? searched : merge(searched, await read(searched.topic, others), others);
  });
  return { matches, truncated, topics: rest };
}

/** In the order of an event's way. Retry topics of any schedule may have records. */
async function topicsToSearch(kafka: Kafka, names: TopicNames): Promise<string[]> {
  const delays = (await kafka.listTopics()).flatMap((topic) => names.retryTierDelayMs(topic) ?? []);
  return [
    names.events,
    names.eventsWaiting,
    names.eventsRejected,
    names.decisions,
    names.deliveries,
    ...tierDelaysMs(delays).map((delayMs) => names.retryTier(delayMs)),
    names.deliveriesDead,
    names.deliveriesReplay,
    names.attempts,
  ];
}

function merge(a: SearchedTopic, b: SearchedTopic, wanted: ReadonlySet<number>): SearchedTopic {
  const missing = [...wanted].filter((one) => !b.partitions.some(({ partition }) => partition === one));
  const unread = missing.map((partition): SearchedPartition => ({
    partition,
    from: 0,
    to: 0,
    state: 'unread',
  }));
  return {
    ...a,
    partitions: [...a.partitions, ...b.partitions, ...unread].sort((x, y) => x.partition - y.partition),
    problem: a.problem ?? b.problem,
  };
}
