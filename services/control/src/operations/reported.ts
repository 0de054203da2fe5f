/**
 * The topic `destinations.health`: what has been reported. An event is written together with a record of this topic, in one transaction. So each
 * event is written once by all instances together, also after a restart.
 */
import type { Kafka, OutgoingRecord } from '@tailrace/kafka';
import { objectIn } from '@tailrace/records';

/** Times are ISO 8601, UTC with milliseconds. */
export interface ReportedDestination {
  /** Since when the destination fails; absent while it does not, or that was not reported. */
  readonly failingSince?: string | undefined;
  /** Whether it was paused or disabled since, so that it has to fail anew. */
  readonly stopped?: boolean | undefined;
  /** Why it fails; absent as `failingSince`, and where a release before wrote it. */
  readonly reason?: string | undefined;
  /** Up to when its dead letters have been reported. */
  readonly deadUntil?: string | undefined;
  /** Since when there are dead letters without an hour between them, and their number by reason. */
  readonly deadSince?: string | undefined;
  readonly dead?: Readonly<Record<string, number>> | undefined;
  /** Since when its transform only fails, as was reported last. */
  readonly transformFailedSince?: string | undefined;
  /** Since when it is disabled; absent while it is not, or that was not reported. */
  readonly disabledSince?: string | undefined;
  /** Since when its attempts had only failed, where `disableAfter` disabled it. */
  readonly failedSince?: string | undefined;
}

export interface ReportedConfig {
  /** The offset of the latest record of `config` that has been reported. */
  readonly offset: number;
}

const configKey = 'config';
const destinationPrefix = 'destination/';
const nothing: ReportedDestination = {};

/** A tombstone where there is nothing to remember. */
export function encodeReported(topic: string, id: string, reported: ReportedDestination): OutgoingRecord {
  const isEmpty = Object.values(reported).every((value) => value === undefined);
  return { topic, key: `${destinationPrefix}${id}`, value: isEmpty ? null : JSON.stringify(reported) };
}

export function encodeReportedConfig(topic: string, reported: ReportedConfig): OutgoingRecord {
  return { topic, key: configKey, value: JSON.stringify(reported) };
}

export type Reported = Awaited<ReturnType<typeof openReported>>;

/**
 * Resolves once the topic is read to its end.
 *
 * @param onOther gets the other records of the topic
 */
export async function openReported(
  kafka: Pick<Kafka, 'follow'>,
  topic: string,
  onOther: (name: string, value: Buffer | null) => void,
) {
  const destinations = new Map<string, ReportedDestination>();
  let config: ReportedConfig | undefined;
  const follower = await kafka.follow({
    topic,
    onRecord({ key, value }) {
      const name = key?.toString() ?? '';
      const found = objectIn<ReportedDestination & ReportedConfig>(value);
      if (name === configKey) {
        const offset = found?.offset;
        config = typeof offset === 'number' ? { offset } : undefined;
      } else if (name.startsWith(destinationPrefix)) {
        const id = name.slice(destinationPrefix.length);
        if (found) destinations.set(id, found);
        else destinations.delete(id);
      } else onOther(name, value);
    },
  });
  return {
    destination: (id: string) => destinations.get(id) ?? nothing,
    /** The ids of destinations of which something was reported. */
    destinations: () => [...destinations.keys()],
    config: () => config,
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  };
}
