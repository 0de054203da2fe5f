/** The body of a request to replay events. */
import { checkDestination, type Destination, type Filter } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { callTypes } from '@tailrace/events';
import type { TopicNames } from '@tailrace/topology';
import Type, { type Static } from 'typebox';
import type { Caller } from '../../access/authenticate.ts';
import { reachesDestination } from '../../access/limits.ts';
import { requireValid } from '../../configuration/entry/change.ts';
import { entryNotFound, invalidField } from '../../http/errors.ts';
import { momentOf } from '../../http/moment.ts';
import { replayModes, type EventSelection } from './selection.ts';

const ids = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 100, description }),
  );

/** Of replays of events only; to be spread into a body. */
export const selectionFields = {
  topic: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'the topic to read; by default that of events. The other one is events.restore behind the prefix of the installation: events that were kept elsewhere',
    }),
  ),
  source: Type.Optional(Type.String({ minLength: 1, description: 'the id of a source' })),
  sources: ids('ids of sources; all that are connected to the destination by default'),
  from: Type.Optional(
    Type.String({
      description:
        'the beginning of the period in which the events were accepted: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d)',
    }),
  ),
  types: Type.Optional(
    Type.Array(Type.Enum([...callTypes]), {
      minItems: 1,
      uniqueItems: true,
      description: `of ${callTypes.join(', ')}`,
    }),
  ),
  events: ids('names of track calls, pages and screens; `*` stands for any text'),
  filter: Type.Optional(
    Type.Unsafe<object>({
      type: 'object',
      additionalProperties: true,
      description: 'an object of the form of the filter of a destination, which applies too',
    }),
  ),
  mode: Type.Optional(
    Type.Enum([...replayModes], {
      description:
        'missing (default): what the destination was not sent, or what became a dead letter, with the delivery id that it always had. ' +
        'all: also what it was sent, with a new delivery id',
    }),
  ),
  allowOverlap: Type.Optional(
    Type.Boolean({ description: 'true or false; true also sends events that another replay may send' }),
  ),
};

export interface SelectionBody extends Static<Type.TObject<typeof selectionFields>> {
  readonly destination?: string | undefined;
  readonly until?: string | undefined;
  readonly userId?: string | undefined;
}

export interface OrderContext {
  /** Throws `not-found` for an unknown destination. */
  readonly load: (id: string) => Destination;
  readonly names: Pick<TopicNames, 'events' | 'eventsRestore'>;
  readonly caller: Caller | undefined;
}

/** @throws TailraceError `invalid-request`, `invalid-configuration`, `not-found`, `conflict` */
export function selectionOf(
  body: SelectionBody,
  { load, names, caller }: OrderContext,
  now = Date.now(),
): EventSelection {
  const { destination: destinationId, types, events, userId, mode = 'missing' } = body;
  if (destinationId === undefined) throw invalidField('destination', 'is required for a replay of events');
  if (!reachesDestination(caller, destinationId))
    throw entryNotFound('destination', destinationId.slice(0, 64));
  const destination = load(destinationId);
  if (body.from === undefined) throw invalidField('from', 'is required for a replay of events');
  const from = momentOf('from', body.from, now);
  const until = body.until === undefined ? now : momentOf('until', body.until, now);
  if (from >= until) throw invalidField('from', 'is not before until');
  return {
    destinationId,
    topic: topicOf(body.topic, names),
    sources: sourcesOf(body, destination, caller),
    from,
    until,
    types,
    events,
    userKey: userId,
    filter: body.filter && filterOf(destination, body.filter),
    mode,
  };
}

/** Undefined for `events`. */
function topicOf(
  topic: string | undefined,
  { events, eventsRestore }: OrderContext['names'],
): string | undefined {
  if (topic === undefined || topic === events) return undefined;
  if (topic === eventsRestore) return topic;
  throw invalidField('topic', `is neither ${events} nor ${eventsRestore}`);
}

function sourcesOf(
  { source, sources }: SelectionBody,
  destination: Destination,
  caller: Caller | undefined,
): readonly string[] | undefined {
  if (source !== undefined && sources !== undefined) throw invalidField('source', 'excludes sources');
  const named = source === undefined ? sources : [source];
  const limits = caller?.sources;
  for (const id of named ?? []) {
    if (limits?.includes(id) === false) throw entryNotFound('source', id.slice(0, 64));
    if (destination.sources.includes(id)) continue;
    throw new TailraceError(
      'conflict',
      `The source ${JSON.stringify(id.slice(0, 64))} is not connected to the destination ${JSON.stringify(destination.id)}. Connect it first.`,
    );
  }
  return named ?? limits;
}

/** Numbers are compared as they are in JavaScript, because the order is stored. */
function filterOf(destination: Destination, given: object): Filter | undefined {
  return requireValid(checkDestination({ ...destination, filter: given }), () => []).filter;
}
