/** A replay as the API shows it. */
import { formatInstant } from '@tailrace/events';
import Type from 'typebox';
import type { Role } from '../access/authenticate.ts';
import { isMaskedFor, showUser } from '../access/mask.ts';
import { optionalText, time } from '../http/schemas.ts';
import { showRows, tallyRowSchema } from './dead-letter-routes.ts';
import { replayModes } from './events/selection.ts';
import type { ReplayOrder, ShownReplay } from './replays.ts';

const eventCounts = Type.Array(
  Type.Object({
    day: Type.String({ description: 'in UTC: 2026-05-01' }),
    type: Type.String(),
    event: optionalText("the name of a track call's event"),
    events: Type.Integer(),
  }),
  { description: 'largest count first; at most 100' },
);

export const replaySchema = Type.Object({
  id: Type.String(),
  kind: Type.Enum(['dead-letters', 'events']),
  state: Type.Enum(
    ['requested', 'counting', 'running', 'paused', 'done', 'interrupted', 'superseded', 'failed'],
    {
      description:
        'requested: it waits for an earlier replay of events to the destination; superseded: a replay on the command line has ended it',
    },
  ),
  dryRun: Type.Boolean(),
  filter: Type.Object({
    destination: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    type: Type.Optional(Type.String()),
    event: Type.Optional(Type.String()),
    userId: optionalText('masked for a read-only token'),
    since: Type.Optional(time('of dead letters')),
    from: Type.Optional(time('of events')),
    until: Type.Optional(time()),
    topic: optionalText('of restored events'),
    sources: Type.Optional(Type.Array(Type.String())),
    types: Type.Optional(Type.Array(Type.String())),
    events: Type.Optional(Type.Array(Type.String())),
    filter: Type.Optional(Type.Unsafe<object>({ type: 'object', additionalProperties: true })),
    mode: Type.Optional(Type.Enum([...replayModes])),
  }),
  ratePerSecond: Type.Integer(),
  startedAt: time(),
  endedAt: Type.Optional(time()),
  due: Type.Optional(
    Type.Integer({
      description:
        'dead letters or events to replay: they match, and were not replayed before; set once they are counted',
    }),
  ),
  eventRows: Type.Optional(eventCounts),
  expectedSeconds: Type.Optional(
    Type.Integer({
      description:
        'of events: how long sending all that are due takes at least, at ratePerSecond and at half of the rateLimit of the destination',
    }),
  ),
  unreadable: Type.Optional(
    Type.Integer({
      description:
        'records of events whose schema control does not have: set SCHEMA_REGISTRY_URL; of restored events also those that are no tracking calls',
    }),
  ),
  expired: Type.Optional(
    Type.Integer({
      description:
        'events that the mode missing leaves out: it is not known any more whether they were sent, because their deliveries have expired',
    }),
  ),
  overlaps: Type.Optional(
    Type.Array(Type.String(), { description: 'replays that may send, or have sent, the same events' }),
  ),
  rows: Type.Optional(
    Type.Array(tallyRowSchema, {
      description: 'all dead letters that match, by destination and reason; the largest 100',
    }),
  ),
  replayed: Type.Integer({ description: 'dead letters or events replayed so far' }),
  malformed: Type.Integer({
    description:
      'records that cannot be replayed: they are not deliveries, or their body was removed with their user',
  }),
  failure: Type.Optional(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      { description: 'expired: some events, which the message counts, expired before they were sent' },
    ),
  ),
});

/** What is known of a replay of events before its events are counted. */
export const startedSchema = Type.Object({
  ...replaySchema.properties,
  estimate: Type.Optional(
    Type.Object(
      { events: Type.Integer(), rows: eventCounts },
      {
        description:
          'about so many events, from what the router has counted of each day; what was sent already, users and conditions are not considered. ' +
          'Where `events` is given, only track calls are counted',
      },
    ),
  ),
  oldestEventAt: Type.Optional(time('events that were accepted before have expired')),
});

/** @param rate of a replay of events: how many it sends in a second at most */
export function showReplay(
  {
    id,
    state,
    paused,
    dryRun,
    ratePerSecond,
    replayed,
    malformed,
    tally,
    eventTally,
    failure,
    ...more
  }: ShownReplay,
  role: Role | undefined,
  rate = ratePerSecond,
) {
  return {
    id,
    kind: more.selection ? ('events' as const) : ('dead-letters' as const),
    state: paused ? ('paused' as const) : state,
    dryRun,
    ratePerSecond,
    replayed,
    malformed,
    filter: showFilter(more, role),
    startedAt: formatInstant(more.startedAt),
    endedAt: timeOf(more.endedAt),
    ...(tally && { due: tally.deadLetters - tally.replayed, rows: showRows(tally.rows) }),
    ...(eventTally && {
      due: eventTally.events,
      eventRows: [...eventTally.rows],
      expectedSeconds: Math.ceil(eventTally.events / rate),
      unreadable: eventTally.unreadable,
      expired: eventTally.expired,
    }),
    ...(more.overlaps && { overlaps: [...more.overlaps] }),
    ...(failure && { failure }),
  };
}

function showFilter(
  { filter = {}, selection }: Pick<ReplayOrder, 'filter' | 'selection'>,
  role: Role | undefined,
) {
  const userKey = selection?.userKey ?? filter.userKey;
  const userId = userKey === undefined ? undefined : showUser(userKey, role);
  if (selection) {
    const { destinationId: destination, topic, sources, from, until, types, events, mode } = selection;
    return {
      destination,
      topic,
      sources: sources && [...sources],
      from: timeOf(from),
      until: timeOf(until),
      types: types && [...types],
      events: events && [...events],
      userId,
      filter: isMaskedFor(role) ? undefined : selection.filter,
      mode,
    };
  }
  const { destinationId: destination, reason, type, event, since, until } = filter;
  return { destination, reason, type, event, userId, since: timeOf(since), until: timeOf(until) };
}

export function timeOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatInstant(ms);
}
