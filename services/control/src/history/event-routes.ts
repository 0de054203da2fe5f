/** The route that explains an event: its deliveries, or the reason why it has none. */
import { formatInstant } from '@tailrace/events';
import Type from 'typebox';
import { periodOf, periodParameters } from '../http/moment.ts';
import type { Routes } from '../http/routes.ts';
import { createExplainer, type Explanation } from './why.ts';
import { deliverySchema, showDelivery } from './delivery-routes.ts';

const dayMs = 86_400_000;

const outcomes = ['routed', 'rejected', 'filtered', 'no-destination', 'not-routed', 'unknown'] as const;

const eventSchema = Type.Object({
  eventId: Type.String(),
  outcome: Type.Enum([...outcomes], {
    description:
      'routed: it has deliveries; rejected: it is invalid; filtered: blocked by its source or excluded by its own ' +
      'integrations; no-destination: no enabled destination is connected to its source; not-routed: accepted, without ' +
      'known deliveries; unknown: not found',
  }),
  explanation: Type.String({ description: 'the outcome in one or two sentences' }),
  deliveries: Type.Array(deliverySchema),
  rejections: Type.Array(
    Type.Object({
      code: Type.String(),
      message: Type.String({ description: 'what is wrong, and how to fix it' }),
      rejectedAt: Type.String({ format: 'date-time' }),
    }),
  ),
  accepted: Type.Optional(
    Type.Object(
      {
        partition: Type.Integer(),
        offset: Type.Integer(),
        acceptedAt: Type.String({ format: 'date-time' }),
        sourceId: Type.Optional(Type.String()),
        type: Type.Optional(Type.String()),
        event: Type.Optional(Type.String()),
      },
      { description: 'the call in the topic events; only for an event without deliveries' },
    ),
  ),
  searched: Type.Optional(
    Type.Object(
      {
        since: Type.String({ format: 'date-time' }),
        complete: Type.Boolean({ description: 'false if the search timed out' }),
      },
      { description: 'the searched period; only for an event without deliveries' },
    ),
  ),
  behind: Type.Integer({
    description: 'records that the history has not read yet, which may include deliveries of the event',
  }),
});

export const eventRoutes: Routes = (app, { kafka, names, config, history, signal }) => {
  const explainer = createExplainer({ kafka, names, config, signal });
  app.get(
    '/events/:eventId',
    {
      config: { errors: ['history-unavailable', 'too-many-at-once'] },
      schema: {
        operationId: 'getEvent',
        summary: 'Explain an event',
        description:
          'Answers immediately if the event has deliveries. Otherwise the topics are searched from `since` (default: a day ' +
          'ago) for up to 20 seconds.',
        tags: ['What happened'],
        params: Type.Object({ eventId: Type.String({ description: 'the messageId of the call' }) }),
        querystring: Type.Object({ since: periodParameters.since }, { additionalProperties: false }),
        response: { 200: eventSchema },
      },
    },
    async ({ params: { eventId }, query }) => {
      const deliveries = history.ofEvent(eventId).map(showDelivery);
      const { behind } = history.status;
      if (deliveries.length > 0) {
        const count = deliveries.length === 1 ? 'one destination' : `${deliveries.length} destinations`;
        const explanation = `It was routed to ${count}.`;
        return { eventId, outcome: 'routed', explanation, deliveries, rejections: [], behind };
      }
      const { since = Date.now() - dayMs } = periodOf(query);
      const explained = await explainer.explain(eventId, since);
      return { eventId, ...showExplanation(explained, since), deliveries, behind };
    },
  );
};

function showExplanation(
  { outcome, explanation, rejections, accepted, searchedAll }: Explanation,
  since: number,
) {
  const { at, ...call } = accepted ?? { at: 0 };
  return {
    ...{ outcome, explanation },
    rejections: rejections.map(({ code, message, at }) => ({ code, message, rejectedAt: formatInstant(at) })),
    ...(accepted && { accepted: { ...call, acceptedAt: formatInstant(at) } }),
    searched: { since: formatInstant(since), complete: searchedAll },
  };
}
