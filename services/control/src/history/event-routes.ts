/** The route that explains an event: its deliveries, what the router decided for other destinations, or why neither is known. */
import { TailraceError } from '@tailrace/errors';
import { formatInstant } from '@tailrace/events';
import type { History } from '@tailrace/history';
import { decisionSentences, type Decision } from '@tailrace/records';
import Type from 'typebox';
import { isLimited, reachesDelivery } from '../access/limits.ts';
import type { Places } from '../access/places.ts';
import type { Caller } from '../access/authenticate.ts';
import { within } from '../http/current.ts';
import { periodOf, periodParameters } from '../http/moment.ts';
import { closedObject, named, time } from '../http/schemas.ts';
import { routesOf, type Api } from '../http/api.ts';
import { searchDeadline } from '../records/deadline.ts';
import { explainEvent, type Explanation, type ExplainerDependencies } from './why.ts';
import { ruleSchema } from './decision-routes.ts';
import {
  attemptSchema,
  deliverySchema,
  resendsSchema,
  showAttempt,
  showDelivery,
  showResends,
} from './delivery-routes.ts';

const dayMs = 86_400_000;

/** For the history to read what the router has written before the answer. */
const catchUpMs = 10_000;
/** Sentences in `explanation`; `decisions` has all. */
const shownSentences = 5;

const outcomes = [
  'routed',
  'rejected',
  'filtered',
  'no-destination',
  'not-routed',
  'not-recorded',
  'not-searched',
  'unknown',
] as const;

export const decisionSchema = Type.Object({
  decidedAt: time(),
  sourceId: Type.String(),
  type: Type.String(),
  routed: Type.Integer({ description: 'destinations that it was sent to' }),
  filtered: Type.Array(
    Type.Object({
      reason: Type.String({
        description:
          'disabled, integrations, schema, filter, sample, suppressed; a later version may add others',
      }),
      rule: Type.Optional(ruleSchema),
      count: Type.Integer({ description: 'number of destinations' }),
      destinations: Type.Array(Type.String(), { description: 'the first of their ids' }),
    }),
  ),
});

const eventSchema = Type.Object({
  eventId: Type.String(),
  outcome: Type.Enum([...outcomes], {
    description:
      'routed: it has deliveries; rejected: it is invalid; filtered: the router filtered it for all connected destinations; ' +
      'no-destination: none was connected to its source; not-routed: accepted, and the router has not finished it; ' +
      'not-recorded: read by the router, whose decision is not known; not-searched: not found, but not all could be ' +
      'searched; unknown: not found',
  }),
  explanation: Type.String({ description: 'the outcome in sentences' }),
  deliveries: Type.Array(
    Type.Object({
      ...deliverySchema.properties,
      lastAttempt: Type.Optional(named('Attempt', attemptSchema)),
      resends: resendsSchema,
    }),
    { description: 'with `lastAttempt` where it has failed' },
  ),
  decisions: Type.Array(decisionSchema, {
    description:
      'why connected destinations did not get it, oldest first; empty where each of them has a delivery',
  }),
  rejections: Type.Array(
    Type.Object({
      code: Type.String(),
      message: Type.String({ description: 'what is wrong, and how to fix it' }),
      rejectedAt: time(),
    }),
  ),
  accepted: Type.Optional(
    Type.Object(
      {
        partition: Type.Integer(),
        offset: Type.Integer(),
        acceptedAt: time(),
        sourceId: Type.Optional(Type.String()),
        type: Type.Optional(Type.String()),
        event: Type.Optional(Type.String()),
      },
      { description: 'the call in the topic events; only for an event without deliveries and decisions' },
    ),
  ),
  searched: Type.Optional(
    Type.Object(
      {
        since: time(),
        complete: Type.Boolean({ description: 'false if the search timed out' }),
      },
      { description: 'the searched period; only for an event without deliveries and decisions' },
    ),
  ),
  behind: Type.Integer({
    description: 'records that the history has not read yet, which may include deliveries of the event',
  }),
});

export interface EventNeeds extends ExplainerDependencies {
  readonly history: History;
  /** Each reads three topics to their ends. */
  readonly searches: Places;
}

export function eventRoutes(app: Api, { history, searches, ...searched }: EventNeeds): void {
  const route = routesOf(app, 'History', ['history-unavailable']);
  route.get('/events/:eventId', {
    operationId: 'getEvent',
    summary: 'Explain an event',
    description:
      'Answers immediately if the event has deliveries or a decision of the router. Otherwise the topics are searched from `since` (default: a day ' +
      'ago) for up to 20 seconds.',
    params: Type.Object({ eventId: Type.String({ description: 'the messageId of the call' }) }),
    querystring: closedObject({ since: periodParameters.since }),
    response: { 200: named('EventTrace', eventSchema) },
    handler: async ({ params: { eventId }, query, caller }, reply) => {
      const known = showRecorded(history, caller, eventId);
      if (known) return known;
      if (isLimited(caller)) {
        throw new TailraceError(
          'not-found',
          `The token reaches no delivery of the event ${JSON.stringify(eventId)}.`,
        );
      }
      const { since = Date.now() - dayMs } = periodOf(query);
      using _place = searches.take(caller);
      const signal = searchDeadline(searched.signal, reply);
      const explained = await explainEvent({ ...searched, signal }, eventId, since);
      // The router may have finished it since the history was asked.
      const isCurrent = explained.outcome !== 'not-recorded' || (await within(history.refresh(), catchUpMs));
      const recorded = showRecorded(history, caller, eventId);
      if (recorded) return recorded;
      const { behind } = history.status;
      const shown = showExplanation(isCurrent ? explained : { ...explained, ...historyIsBehind }, since);
      return { eventId, ...shown, deliveries: [], decisions: [], behind };
    },
  });
}

const historyIsBehind = {
  outcome: 'not-searched',
  explanation: 'The router has read the event, and the history has not read all records of the router yet.',
} as const;

/** The deliveries and decisions of an event that the caller reaches; undefined where there are none. */
function showRecorded(history: History, caller: Caller | undefined, eventId: string) {
  const found = history.read((queries) =>
    queries.ofEvent(eventId, (delivery) => reachesDelivery(caller, delivery)),
  );
  const deliveries = found.deliveries.map((delivery) => {
    const { id, attempts, state } = delivery;
    const resends = showResends(history, caller, id);
    const shown = { ...showDelivery(delivery, caller?.scope), resends };
    if (attempts === 0 || state.status === 'delivered') return shown;
    const last = history.read((queries) => queries.lastAttemptOf(id));
    return { ...shown, ...(last && { lastAttempt: showAttempt(last, caller?.scope) }) };
  });
  const decisions = history
    .read((queries) => queries.decisionsOf(eventId))
    .flatMap((decision) => reachedPart(caller, decision, deliveries.length) ?? []);
  if (deliveries.length === 0 && decisions.length === 0) return undefined;
  const { behind } = history.status;
  const destinations = new Set(deliveries.map(({ destinationId }) => destinationId)).size;
  const count = destinations === 1 ? 'one destination' : `${destinations} destinations`;
  const events = eventsOf(deliveries);
  const listed = found.isComplete ? 'which are all listed' : 'of which the newest are listed';
  const sentences = decisions.flatMap(decisionSentences);
  const explanation = [
    ...(deliveries.length > 0 ? [`It was routed to ${found.isComplete ? '' : 'at least '}${count}.`] : []),
    ...(events > 1 ? [`Its messageId was used for ${events} events with different content, ${listed}.`] : []),
    ...sentences.slice(0, shownSentences),
    ...(sentences.length > shownSentences ? ['decisions has all reasons.'] : []),
  ].join(' ');
  const outcome = outcomeOf(deliveries.length, decisions);
  return {
    eventId,
    outcome,
    explanation,
    deliveries,
    rejections: [],
    behind,
    decisions: decisions.map(({ decidedAt, sourceId, type, routed, filtered }) => ({
      decidedAt: formatInstant(decidedAt),
      sourceId,
      type,
      routed,
      filtered,
    })),
  };
}

/**
 * An event has one delivery for a source and a destination; another event with its messageId and other content has another. A replay
 * may have made further ones.
 */
function eventsOf(
  deliveries: readonly {
    readonly sourceId: string;
    readonly destinationId: string;
    readonly resends: readonly unknown[];
  }[],
): number {
  const routed = deliveries.filter(({ resends }) => resends.length === 0);
  const pairs = Map.groupBy(routed, ({ sourceId, destinationId }) => `${sourceId} ${destinationId}`);
  return Math.max(0, ...Array.from(pairs.values(), ({ length }) => length));
}

/** For a token that is limited to destinations, only these. Ids that the decision does not list are not reached. */
function reachedPart(caller: Caller | undefined, decision: Decision, reached: number): Decision | undefined {
  const { sourceId } = decision;
  if (caller?.sources?.includes(sourceId) === false) return undefined;
  if (caller?.destinations === undefined) return decision;
  const filtered = decision.filtered.flatMap((group) => {
    const destinations = group.destinations.filter((destinationId) =>
      reachesDelivery(caller, { sourceId, destinationId }),
    );
    return destinations.length > 0 ? [{ ...group, count: destinations.length, destinations }] : [];
  });
  return filtered.length > 0 ? { ...decision, routed: reached, filtered } : undefined;
}

/** Deliveries of a decision may not be in the history yet, or any more. */
function outcomeOf(deliveries: number, decisions: readonly Decision[]): (typeof outcomes)[number] {
  if (deliveries > 0 || decisions.some(({ routed }) => routed > 0)) return 'routed';
  return decisions.some(({ filtered }) => filtered.length > 0) ? 'filtered' : 'no-destination';
}

function showExplanation(
  { outcome, explanation, rejections, accepted, searchedAll }: Explanation,
  since: number,
) {
  const { at, ...call } = accepted ?? { at: 0 };
  return {
    outcome,
    explanation,
    rejections: rejections.map(({ code, message, at }) => ({ code, message, rejectedAt: formatInstant(at) })),
    ...(accepted && { accepted: { ...call, acceptedAt: formatInstant(at) } }),
    searched: { since: formatInstant(since), complete: searchedAll },
  };
}
