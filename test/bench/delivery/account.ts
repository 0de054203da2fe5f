/**
 * Accounts for every delivery of a wave. A delivery has arrived, is a dead letter, or has a record that the service's
 * group has not finished, so that the record is read again. Every other delivery is lost.
 */
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import { decodeDelivery } from '@tailrace/records';
import { tierDelaysMs, type TopicNames } from '@tailrace/topology';
import type { KafkaAdmin } from '../../support/kafka/kafka-admin.ts';
import { faultsOf, type Arrivals } from '../receivers/receiver.ts';
import { numberOfId } from './bodies.ts';
import type { Wave } from './wave.ts';

/** The records of a wave's deliveries in the service's topics, by index in the wave. */
export interface Copies {
  /** Records that the service wrote to retry topics; the dead letter is not counted. */
  readonly rewrites: Uint16Array;
  /** Of the rewrites, those with the reason `lane-full`. */
  readonly deferrals: Uint16Array;
  /** Due time of the last record in a retry topic, milliseconds since the epoch; NaN if there is none. */
  readonly dueAt: Float64Array;
  /** Reason of the dead letter; empty if there is none. */
  readonly deadFor: string[];
  /** 1 if a record of the delivery lies at or above the committed offset. */
  readonly unfinished: Uint8Array;
}

export interface Account {
  readonly sent: number;
  readonly arrived: number;
  readonly dead: number;
  readonly deadReasons: Readonly<Record<string, number>>;
  /** Left for the next owner of the partitions: not yet due, or released when the service stopped. */
  readonly unfinished: number;
  readonly lost: number;
  readonly repeated: number;
  readonly unexpected: number;
  readonly checked: number;
  readonly faults: readonly string[];
}

export interface Stock {
  readonly kafka: Kafka;
  readonly admin: KafkaAdmin;
  readonly topics: TopicNames;
  /** Consumer group of the service, which has ended. */
  readonly groupId: string;
  readonly scheduleMs: readonly number[];
}

/** Reads all retry topics and the dead letters, and `deliveries` if deliveries are still unaccounted for. */
export async function readCopies(
  { kafka, admin, topics, groupId, scheduleMs }: Stock,
  { first, count }: Wave,
  { receivedAt }: Arrivals,
): Promise<Copies> {
  const copies: Copies = {
    rewrites: new Uint16Array(count),
    deferrals: new Uint16Array(count),
    dueAt: new Float64Array(count).fill(NaN),
    deadFor: Array.from({ length: count }, () => ''),
    unfinished: new Uint8Array(count),
  };
  const { rewrites, deferrals, dueAt, deadFor, unfinished } = copies;

  const read = async (
    topic: string,
    onCopy: (index: number, record: ConsumedRecord) => void,
  ): Promise<void> => {
    const follower = await kafka.follow({
      topic,
      onRecord(record) {
        const index = numberOfId(record.headers['delivery-id']?.toString() ?? '') - first;
        if (index >= 0 && index < count) onCopy(index, record);
      },
    });
    await follower.close();
  };
  const noteUnfinished = async (topic: string) => {
    const committed = await admin.committed(groupId, topic);
    return (index: number, { partition, offset }: ConsumedRecord): void => {
      if (offset >= (committed[partition] ?? 0)) unfinished[index] = 1;
    };
  };

  for (const tierMs of tierDelaysMs(scheduleMs)) {
    const topic = topics.retryTier(tierMs);
    const note = await noteUnfinished(topic);
    await read(topic, (index, record) => {
      note(index, record);
      const delivery = decodeDelivery(record);
      if (typeof delivery === 'string')
        throw new Error(`a record of ${topic} is not a delivery: ${delivery}`);
      // Records that the bench itself wrote have no reason.
      if (delivery.reason !== undefined) rewrites[index] = (rewrites[index] ?? 0) + 1;
      if (delivery.reason === 'lane-full') deferrals[index] = (deferrals[index] ?? 0) + 1;
      const earlier = dueAt[index] ?? NaN;
      const due = delivery.dueAt ?? NaN;
      dueAt[index] = Number.isNaN(earlier) ? due : Math.max(earlier, due);
    });
  }
  await read(topics.deliveriesDead, (index, { headers }) => {
    deadFor[index] = headers['reason']?.toString() ?? 'unknown';
  });
  const isAccountedFor = (index: number): boolean =>
    !Number.isNaN(receivedAt[index] ?? NaN) || deadFor[index] !== '' || unfinished[index] === 1;
  if (!deadFor.every((_, index) => isAccountedFor(index))) {
    await read(topics.deliveries, await noteUnfinished(topics.deliveries));
  }
  return copies;
}

export function accountFor(
  { count }: Wave,
  { receivedAt, repeated, unexpected, samples }: Arrivals,
  { deadFor, unfinished }: Pick<Copies, 'deadFor' | 'unfinished'>,
  sharedSecret: string,
): Account {
  const deadReasons: Record<string, number> = {};
  const sums = { arrived: 0, dead: 0, unfinished: 0, lost: 0 };
  for (let index = 0; index < count; index += 1) {
    const reason = deadFor[index] ?? '';
    if (!Number.isNaN(receivedAt[index] ?? NaN)) sums.arrived += 1;
    else if (reason !== '') {
      sums.dead += 1;
      deadReasons[reason] = (deadReasons[reason] ?? 0) + 1;
    } else if (unfinished[index] === 1) sums.unfinished += 1;
    else sums.lost += 1;
  }
  return {
    sent: count,
    ...sums,
    deadReasons,
    repeated,
    unexpected,
    checked: samples.length,
    faults: faultsOf(samples, sharedSecret),
  };
}

/** Whether no delivery was lost, altered or unexpected; repeats are allowed. */
export function isSound({ lost, unexpected, faults }: Account): boolean {
  return lost + unexpected + faults.length === 0;
}

export function describeAccount(account: Account): string {
  const { sent, arrived, dead, deadReasons, unfinished, lost, repeated, unexpected, checked, faults } =
    account;
  const reasons = Object.entries(deadReasons).map(([reason, count]) => `${reason} ${count}`);
  return [
    `${isSound(account) ? 'Sound' : 'NOT SOUND'}: ${sent} written, ${arrived} arrived, ` +
      `${dead} dead${reasons.length > 0 ? ` (${reasons.join(', ')})` : ''}, ${unfinished} unfinished, ` +
      `${lost} lost, ${repeated} repeated, ${unexpected} unexpected; ${checked} bodies checked, ${faults.length} wrong`,
    ...faults.slice(0, 5).map((fault) => `  ${fault}`),
  ].join('\n');
}
