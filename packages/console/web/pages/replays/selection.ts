/** Which past events are sent again: the fields of the form, and the replay that they make. */
import type { Schema } from '../../api/client.ts';
import { toTime } from '../../lists/period.ts';
import { filterTypes, conditionIn } from '../destinations/filter/draft.ts';

type Order = Schema['ReplayInput'];
type Query = Readonly<Record<string, string>>;

export interface Draft {
  readonly destination: string;
  readonly source: string;
  /** Empty for all. */
  readonly type: string;
  readonly event: string;
  readonly userId: string;
  /** JSON. */
  readonly condition: string;
  readonly mode: NonNullable<Order['mode']>;
}

/** @param query of the address, as a list of deliveries or of filtered events has it too */
export function draftOf(query: Query): Draft {
  const { destination = '', source = '', event = '', user = '' } = query;
  const type = typeOf(query['type']) ?? '';
  const rest = { condition: '', mode: 'missing' } as const;
  return { destination, source, type, event, userId: user, ...rest };
}

/** The period of the list, as its fields have it. */
export function periodOf({ since = '24h', until = '' }: Query): Query {
  return { since, until };
}

/** What a list is filtered by and a replay cannot be. */
export function unusedOf({ status, reason, type }: Query): readonly string[] {
  return [
    ...(status === undefined ? [] : ['status']),
    ...(reason === undefined ? [] : ['reason']),
    ...(type === undefined || typeOf(type) ? [] : ['type']),
  ];
}

/** Undefined where the condition cannot be read. */
export function orderOf(draft: Draft, { since = '', until = '' }: Query): Order | undefined {
  const { destination, source, event, userId, mode } = draft;
  const condition = conditionIn(draft);
  const type = typeOf(draft.type);
  if (condition === 'not-json') return undefined;
  return {
    kind: 'events',
    destination,
    from: toTime(since),
    mode,
    ...(source !== '' && { sources: [source] }),
    ...(until !== '' && { until: toTime(until) }),
    ...(type && { types: [type] }),
    ...(event !== '' && { events: [event] }),
    ...(userId !== '' && { userId }),
    ...(condition && { filter: { condition } }),
  };
}

function typeOf(type: string | undefined): (typeof filterTypes)[number] | undefined {
  return filterTypes.find((one) => one === type);
}
