/** What sources send: the events of their track calls, and how much by day. */
import type { Source } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { formatInstant } from '@tailrace/events';
import Type from 'typebox';
import { periodOf, periodParameters } from '../http/moment.ts';
import { decodeCursor, encodeCursor, pageOf, pageParameters } from '../http/page.ts';
import type { Routes } from '../http/routes.ts';

const params = Type.Object({ id: Type.String() });

const eventSchema = Type.Object({
  event: Type.String(),
  count: Type.Integer({ description: 'calls of the last 90 days, filtered ones too' }),
  filtered: Type.Integer({ description: 'how many of them were blocked' }),
  firstSeenAt: Type.Optional(Type.String({ format: 'date-time' })),
  lastSeenAt: Type.Optional(Type.String({ format: 'date-time' })),
  blocked: Type.Boolean({ description: 'whether the source blocks it now' }),
});

const daySchema = Type.Object({
  day: Type.String({ format: 'date', description: 'in UTC' }),
  calls: Type.Integer({ description: 'filtered ones too' }),
  filtered: Type.Integer(),
  byType: Type.Record(Type.String(), Type.Integer()),
});

export const usageRoutes: Routes = (app, { config, history }) => {
  const tags = ['Sources'];
  const errors = { errors: ['history-unavailable'] as const };

  const sourceOf = (id: string): Source => {
    const source = config.source(id);
    if (source) return source;
    throw new TailraceError('not-found', `There is no source ${JSON.stringify(id)}.`);
  };

  app.get(
    '/sources/:id/events',
    {
      config: errors,
      schema: {
        operationId: 'listSourceEvents',
        summary: "The events of a source's track calls, by name",
        description: 'Those that were sent in the last 90 days, and those that are blocked.',
        tags,
        params,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: pageOf(eventSchema) },
      },
    },
    ({ params: { id }, query: { limit = 50, cursor } }) => {
      const blocked = new Set(sourceOf(id).schema?.track?.blocked);
      const after = cursor === undefined ? '' : decodeCursor(cursor, (value) => typeof value === 'string');
      const sent = history.eventsOf(id, limit + 1, after).map((usage) => ({
        ...{ event: usage.event, count: usage.calls, filtered: usage.filtered },
        ...{ firstSeenAt: formatInstant(usage.firstAt), lastSeenAt: formatInstant(usage.lastAt) },
        blocked: blocked.has(usage.event),
      }));
      const names = new Set(sent.map(({ event }) => event));
      // Those in the range of this page: beyond its end, a name may have been sent all the same.
      const end = sent.length > limit ? sent.at(-1)?.event : undefined;
      const unsent = [...blocked]
        .filter(
          (event) =>
            !names.has(event) && isBefore(after, event) && (end === undefined || isBefore(event, end)),
        )
        .map((event) => ({ event, count: 0, filtered: 0, blocked: true }));
      const items = [...sent, ...unsent].sort((a, b) => (isBefore(a.event, b.event) ? -1 : 1));
      const page = items.slice(0, limit);
      const last = page.at(-1);
      return { items: page, ...(last && items.length > limit && { next: encodeCursor(last.event) }) };
    },
  );

  app.get(
    '/sources/:id/usage',
    {
      config: errors,
      schema: {
        operationId: 'getSourceUsage',
        summary: 'What a source used, by day',
        description: 'Days in UTC, on which calls were routed; at most the last 90.',
        tags,
        params,
        querystring: Type.Object(periodParameters, { additionalProperties: false }),
        response: { 200: Type.Object({ items: Type.Array(daySchema) }) },
      },
    },
    ({ params: { id }, query }) => {
      sourceOf(id);
      const { since, until } = periodOf(query);
      const day = (ms: number): string => formatInstant(ms).slice(0, 10);
      const period = {
        ...(since !== undefined && { since: day(since) }),
        // The day on which a period ends counts whole, unless it ends as the day begins.
        ...(until !== undefined && { until: day(until - 1) }),
      };
      return { items: history.daysOf(id, period) };
    },
  );
};

/** In the order of their bytes, as the history has them. */
function isBefore(one: string, other: string): boolean {
  return Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0;
}
