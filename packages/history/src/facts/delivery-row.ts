/**
 * The state of one delivery, merged from its records. Topics are read in parallel, and after a rebuild in another order, so
 * the merge is independent of the order of records.
 */
export type DeliveryStatus =
  | 'waiting'
  | 'retrying'
  | 'delivered'
  | 'dead'
  /** It has ended, and the record of its last attempt was lost. See reconcile.ts. */
  | 'unknown';

export const deliveryStatuses: readonly DeliveryStatus[] = [
  'waiting',
  'retrying',
  'delivered',
  'dead',
  'unknown',
];

/** Statuses of a delivery that is attempted again, in SQL. */
export const pendingStatuses = "('waiting', 'retrying')";

export function isPending(status: DeliveryStatus): boolean {
  return status === 'waiting' || status === 'retrying';
}

/** The order of states of the same millisecond. */
export const ranks = { placed: 0, attempted: 1, waits: 2, dead: 3, ended: 4 };

export interface DeliveryState {
  readonly status: DeliveryStatus;
  /** When the status began; milliseconds since the epoch. */
  readonly changedAt: number;
  /** Orders states of the same millisecond: the higher rank is later. */
  readonly rank: number;
  /** Why the delivery is not delivered. */
  readonly reason: string | null;
  readonly nextDueAt: number | null;
}

/** The position of the latest record, which holds the body. */
interface BodyPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Orders the records of a delivery: the time of the record, or 0 for the first one. */
  readonly placedAt: number;
}

export interface DeliveryRow {
  readonly id: string;
  readonly eventId: string;
  readonly sourceId: string;
  readonly destinationId: string;
  readonly type: string;
  readonly event: string | null;
  readonly userKey: string;
  /** The time of the earliest known record; milliseconds since the epoch. */
  readonly createdAt: number;
  readonly state: DeliveryState;
  readonly place: BodyPlace | null;
}

/** Merges two rows of the same delivery. */
export function merge(one: DeliveryRow, other: DeliveryRow): DeliveryRow {
  const replaces = one.state.status === 'unknown' && !isFirst(other.state);
  const isLater = replaces || compare(stateOrder(other.state), stateOrder(one.state)) > 0;
  return {
    ...one,
    event: one.event ?? other.event,
    userKey: one.userKey || other.userKey,
    createdAt: Math.min(one.createdAt, other.createdAt),
    state: isLater ? other.state : one.state,
    place: (replaces ? other.place : undefined) ?? laterPlace(one.place, other.place),
  };
}

/** Of the record that the router writes, which has no time. */
function isFirst({ changedAt, rank }: DeliveryState): boolean {
  return changedAt === 0 && rank === ranks.placed;
}

/**
 * What is known of a pending delivery whose latest record is finished. All that was written before is read, so each record
 * that is read after this replaces it, whatever its time, except another copy of the first one.
 */
export function ended(row: DeliveryRow): DeliveryRow {
  return {
    ...row,
    state: { ...row.state, status: 'unknown', rank: ranks.ended, reason: null, nextDueAt: null },
  };
}

/** A delivered delivery stays delivered: later records are about a duplicate. */
function stateOrder({
  status,
  changedAt,
  rank,
  reason,
  nextDueAt,
}: DeliveryState): readonly (number | string)[] {
  return [status === 'delivered' ? 1 : 0, changedAt, rank, reason ?? '', nextDueAt ?? 0, status];
}

function laterPlace(one: BodyPlace | null, other: BodyPlace | null): BodyPlace | null {
  if (!one || !other) return one ?? other;
  const order = ({ placedAt, topic, partition, offset }: BodyPlace) => [placedAt, topic, partition, offset];
  const later = compare(order(other), order(one));
  // Of two copies that a router wrote, delivery may finish the second at once, because the first is unfinished and covers both.
  const areFirst = one.placedAt === 0 && other.placedAt === 0;
  return (areFirst ? -later : later) > 0 ? other : one;
}

function compare(one: readonly (number | string)[], other: readonly (number | string)[]): number {
  for (const [index, value] of one.entries()) {
    const against = other[index] ?? value;
    if (value !== against) return value > against ? 1 : -1;
  }
  return 0;
}
