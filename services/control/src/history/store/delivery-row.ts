/**
 * What is known of one delivery. Its topics are read side by side, in no order among each other, and after a rebuild in
 * another one; so a row is what its records add up to by an operation that does not care about their order.
 */
export type DeliveryStatus = 'waiting' | 'retrying' | 'delivered' | 'dead';

export const deliveryStatuses: readonly DeliveryStatus[] = ['waiting', 'retrying', 'delivered', 'dead'];

export interface DeliveryState {
  readonly status: DeliveryStatus;
  /** Since when; milliseconds since the epoch. */
  readonly changedAt: number;
  /** Of two that are of the same millisecond, the higher one comes later in the life of a delivery. */
  readonly rank: number;
  /** Why it is not delivered. */
  readonly reason: string | null;
  readonly nextDueAt: number | null;
}

/** A record that holds the body. */
export interface BodyPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
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
  /** When it is first heard of. */
  readonly createdAt: number;
  readonly state: DeliveryState;
  readonly place: BodyPlace | null;
}

/** What both say of the same delivery. */
export function merge(one: DeliveryRow, other: DeliveryRow): DeliveryRow {
  const isLater = compare(stateOrder(other.state), stateOrder(one.state)) > 0;
  return {
    ...one,
    event: one.event ?? other.event,
    userKey: one.userKey || other.userKey,
    createdAt: Math.min(one.createdAt, other.createdAt),
    state: isLater ? other.state : one.state,
    place: laterPlace(one.place, other.place),
  };
}

/** What was delivered once stays delivered: whatever else is heard of it is about a copy. */
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
  return compare(order(other), order(one)) > 0 ? other : one;
}

function compare(one: readonly (number | string)[], other: readonly (number | string)[]): number {
  for (const [index, value] of one.entries()) {
    const against = other[index] ?? value;
    if (value !== against) return value > against ? 1 : -1;
  }
  return 0;
}
