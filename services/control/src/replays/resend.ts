/**
 * Sends one delivery again, whether it was delivered or is dead. It is published to `deliveries.replay` from the latest of its
 * records, with the same delivery id and body: for the receiver it is the same delivery.
 */
import type { ConfigView } from '@tailrace/config';
import { hasNoBody, replayRecord } from '@tailrace/deadletters';
import { TailraceError } from '@tailrace/errors';
import { isPending, type DeliveryStatus, type History } from '@tailrace/history';
import type { Publisher } from '@tailrace/kafka';
import { decodeDelivery } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import { transformAgain, type Transforms } from '@tailrace/transform';
import type { RecordReader } from '../records/reader.ts';
import { reachesDelivery } from '../access/limits.ts';
import type { Caller } from '../access/authenticate.ts';
import type { Replays } from './replays.ts';
import { requireEnabled } from './require-enabled.ts';

export interface ResendDependencies {
  readonly records: RecordReader;
  readonly names: Pick<TopicNames, 'deliveriesDead' | 'deliveriesReplay'>;
  readonly config: Pick<ConfigView, 'destination'>;
  readonly history: Pick<History, 'read'>;
  readonly replays: Pick<Replays, 'maySend'>;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly transforms: Pick<Transforms, 'run'>;
}

export interface Resent {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly destinationId: string;
}

interface Source {
  readonly sourceId: string | undefined;
  readonly destinationId: string;
  readonly status: DeliveryStatus;
  /** Of a dead delivery. */
  readonly reason: string | undefined;
  /** Undefined where only attempts of the delivery are known. */
  readonly place: { readonly topic: string; readonly partition: number; readonly offset: number } | undefined;
  /** Whether the place is a dead letter that was not replayed. */
  readonly isOpenLetter: boolean;
}

/**
 * Resolves once the delivery is in Kafka.
 *
 * @throws TailraceError `not-found`; `conflict` while the delivery is pending, its destination is disabled, or a replay may send the
 *   dead letter; `expired` where the topics do not have the body any more
 */
export async function resend(
  deps: ResendDependencies,
  deliveryId: string,
  caller: Caller | undefined,
): Promise<Resent> {
  const { records, names, config, replays, publisher } = deps;
  const found = sourceOf(deps, deliveryId);
  if (!found || !reachesDelivery(caller, found)) throw notFound(deliveryId);
  const { destinationId, place, isOpenLetter } = found;
  requireEnded(found, deliveryId);
  if (hasNoBody(found)) throw removed(deliveryId);
  requireEnabled(config, destinationId, 'would become a dead letter');
  const record = place && (await records.at(caller, place));
  if (!record) throw expired(deliveryId);
  const delivery = decodeDelivery(record);
  // Another record is in this place of a topic that was deleted and created again.
  if (typeof delivery === 'string' || delivery.deliveryId !== deliveryId) throw expired(deliveryId);
  const rebuilt = await transformAgain(deps, record);
  // Directly before the publication, which a replay that begins later reads.
  if (isOpenLetter && (await replays.maySend(destinationId))) throw beingReplayed(deliveryId);
  await publisher.publish(replayRecord(rebuilt, names.deliveriesReplay, isOpenLetter, caller?.name));
  return { deliveryId, eventId: delivery.eventId, destinationId };
}

/** The latest record of the delivery. Dead letters are known for longer than deliveries. */
function sourceOf({ history, names }: ResendDependencies, deliveryId: string): Source | undefined {
  const { found, letter } = history.read((queries) => ({
    found: queries.findDelivery(deliveryId),
    letter: queries.deadLettersOf(deliveryId).at(-1),
  }));
  const letterPlace = letter && {
    topic: names.deliveriesDead,
    partition: letter.partition,
    offset: letter.offset,
  };
  const place = found?.place ?? letterPlace;
  const { sourceId, destinationId = '' } = found ?? letter ?? {};
  if (!found && !letter) return undefined;
  const isLetter =
    place?.topic === names.deliveriesDead &&
    place.partition === letter?.partition &&
    place.offset === letter.offset;
  return {
    sourceId,
    destinationId,
    place,
    status: found?.state.status ?? 'dead',
    reason: found ? (found.state.reason ?? undefined) : letter?.reason,
    isOpenLetter: isLetter && !letter.replayed,
  };
}

function requireEnded({ status }: Source, deliveryId: string): void {
  if (!isPending(status)) return;
  throw new TailraceError(
    'conflict',
    `The delivery ${JSON.stringify(deliveryId)} is pending: it is attempted without a resend. To attempt the pending ` +
      'deliveries of its destination now, use retry.',
  );
}

function beingReplayed(deliveryId: string): TailraceError {
  return new TailraceError(
    'conflict',
    `The delivery ${JSON.stringify(deliveryId)} is a dead letter that a replay to its destination may send. Wait until the replay ` +
      'has ended, or interrupt it.',
  );
}

function notFound(deliveryId: string): TailraceError {
  return new TailraceError('not-found', `The history has no delivery ${JSON.stringify(deliveryId)}.`);
}

function removed(deliveryId: string): TailraceError {
  return new TailraceError(
    'expired',
    `The body of the delivery ${JSON.stringify(deliveryId)} was removed, because its user was deleted, so it cannot be sent again.`,
  );
}

function expired(deliveryId: string): TailraceError {
  return new TailraceError(
    'expired',
    `The body of the delivery ${JSON.stringify(deliveryId)} has expired, so it cannot be sent again. The topics keep deliveries ` +
      'for seven days and dead letters for 30.',
  );
}
