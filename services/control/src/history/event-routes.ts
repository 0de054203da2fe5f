/** What happened to an event: its deliveries, or why there are none. */
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
      'routed: it has deliveries; rejected: it could not be used; filtered: blocked by its source or turned off by its ' +
      'own integrations; no-destination: nothing is connected to its source; not-routed: accepted, and no deliveries are ' +
      'known; unknown: it is not found',
  }),
  explanation: Type.String({ description: 'the same in words' }),
  deliveries: Type.Array(deliverySchema),
  rejections: Type.Array(
    Type.Object({
      code: Type.String(),
      message: Type.String({ description: 'what is wrong with it, and how to fix it' }),
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
      { description: 'the call as it lies in the topic events; only where it has no deliveries' },
    ),
  ),
  searched: Type.Optional(
    Type.Object(
      {
        since: Type.String({ format: 'date-time' }),
        complete: Type.Boolean({ description: 'false where the time was over before all was read' }),
      },
      { description: 'what was read of the topics; only where it has no deliveries' },
    ),
  ),
  behind: Type.Integer({
    description: 'records that the history has not read yet; its deliveries may be among them',
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
        summary: 'What happened to an event',
        description:
          'Its deliveries, at once. Where it has none, it is looked for in the topics, among what came since `since` (a day ' +
          'ago where it is left out), for up to 20 seconds.',
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
