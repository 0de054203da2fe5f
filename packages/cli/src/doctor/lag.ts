/** How late the groups are: the age of the oldest record that is not committed, read from Kafka itself. */
import type { ConsumedRecord, GroupReport, Kafka } from '@tailrace/kafka';
import { pauseTierMs, tierDelaysMs, type TopicNames } from '@tailrace/topology';
import { countOf } from '../terminal/table.ts';
import { findingsAbout, type Finding } from './finding.ts';

const { ok, warn, fail, unknown } = findingsAbout('lag');

export interface TopicLag {
  readonly group: 'router' | 'delivery';
  readonly topic: string;
  readonly records: number;
  /**
   * The age of the oldest unfinished record; in a retry topic, how late it is. 0 without a backlog. Null if it could not be
   * read.
   */
  readonly seconds: number | null;
}

/** Routers and delivery services need seconds at most, unless they are late. */
const lateS = 60;
/** From this share of the retention on, records may expire unread. */
const expiringShare = 0.5;
const readTimeoutMs = 15_000;
/** A transaction marker may follow the head; a few offsets have a record. */
const offsetsPerHead = 100;

export function groupTopics(names: TopicNames, retryScheduleMs: readonly number[]) {
  const tiers = tierDelaysMs([...retryScheduleMs, pauseTierMs]).map((delayMs) => names.retryTier(delayMs));
  return {
    router: [names.events, names.eventsWaiting],
    delivery: [names.deliveries, names.deliveriesReplay, ...tiers],
  };
}

export async function lagOf(
  kafka: Kafka,
  names: TopicNames,
  { group, lag, heads }: GroupReport & Pick<TopicLag, 'group'>,
  now = Date.now(),
): Promise<TopicLag[]> {
  return Promise.all(
    Array.from(lag, async ([topic, records]): Promise<TopicLag> => {
      const first = heads.get(topic) ?? new Map<number, number>();
      if (first.size === 0) return { group, topic, records, seconds: 0 };
      const isTier = names.retryTierDelayMs(topic) !== undefined;
      const dueTimes = (await readHeads(kafka, topic, first))?.map((record) =>
        isTier ? dueAt(record) : record.timestamp,
      );
      const seconds = dueTimes && Math.max(0, ...dueTimes.map((time) => (now - time) / 1_000));
      return { group, topic, records, seconds: seconds === undefined ? null : Math.round(seconds * 10) / 10 };
    }),
  );
}

/** The first record of each partition from its head on. Undefined if Kafka does not deliver them in time. */
async function readHeads(
  kafka: Kafka,
  topic: string,
  heads: ReadonlyMap<number, number>,
): Promise<ConsumedRecord[] | undefined> {
  const ends = new Map(Array.from(heads, ([partition, offset]) => [partition, offset + offsetsPerHead]));
  const found = new Map<number, ConsumedRecord>();
  const timeout = AbortSignal.timeout(readTimeoutMs);
  try {
    const scan = await kafka.scan({ topic, starts: heads, ends });
    timeout.addEventListener('abort', () => void scan.close());
    for await (const records of scan) {
      for (const record of records) if (!found.has(record.partition)) found.set(record.partition, record);
      if (found.size === heads.size) break;
    }
  } catch {
    return undefined;
  }
  return timeout.aborted ? undefined : [...found.values()];
}

/** A record without a readable due time is due immediately. */
function dueAt({ headers, timestamp }: ConsumedRecord): number {
  const time = Date.parse(headers['due-at']?.toString() ?? '');
  return Number.isNaN(time) ? timestamp : time;
}

/** @param retentionMs by topic; absent for topics that keep records without a limit */
export function lagFindings(lags: readonly TopicLag[], retentionMs: ReadonlyMap<string, number>): Finding[] {
  const unread = lags.filter(({ seconds }) => seconds === null);
  const late = lags.filter(({ seconds }) => (seconds ?? 0) >= lateS);
  const expiring = late.filter(({ topic, seconds }) => {
    const limit = retentionMs.get(topic);
    return limit !== undefined && limit > 0 && ((seconds ?? 0) * 1_000) / limit >= expiringShare;
  });
  const findings: Finding[] = [];
  if (expiring.length > 0) {
    findings.push(
      fail(
        `half of the retention is used, and unread records will expire: ${listed(expiring)}.`,
        'Raise retention.ms of these topics now, then make the service catch up.',
      ),
    );
  }
  const merelyLate = late.filter((lag) => !expiring.includes(lag));
  if (merelyLate.length > 0) {
    findings.push(
      warn(
        `the oldest unfinished record is late: ${listed(merelyLate)}.`,
        'Add replicas up to the number of partitions, or find the receiver that holds them back (tailrace_destination_* metrics).',
      ),
    );
  }
  if (unread.length > 0) {
    const says = `the age of the backlog could not be read: ${unread.map(({ topic }) => topic).join(', ')}.`;
    const hint = 'Check that this user may read these topics, in groups whose names begin with <topic>.scan.';
    findings.push(unknown(says, hint));
  }
  if (findings.length > 0) return findings;
  const oldest = Math.max(0, ...lags.map(({ seconds }) => seconds ?? 0));
  return [ok(`the oldest unfinished record is ${oldest} s late`)];
}

function listed(lags: readonly TopicLag[]): string {
  return lags
    .map(
      ({ topic, records, seconds }) =>
        `${topic} (${Math.round(seconds ?? 0)} s, ${countOf(records, 'record')})`,
    )
    .join(', ');
}
