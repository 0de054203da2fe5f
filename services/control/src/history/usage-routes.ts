/** The routes of a source's usage: events of its track calls by name, and calls by day. */
import type { ConfigView } from '@tailrace/config';
import { formatInstant } from '@tailrace/events';
import type { History, NamedUsage } from '@tailrace/history';
import Type from 'typebox';
import { loadSource } from '../configuration/sources/source.ts';
import { periodOf, periodParameters } from '../http/moment.ts';
import { closedObject, named, time } from '../http/schemas.ts';
import { cursorsOf, pageOf, pageQuery } from '../http/page.ts';
import { routesOf, type Api } from '../http/api.ts';

const eventSchema = Type.Object({
  event: Type.String(),
  count: Type.Integer({ description: 'calls of the last 90 days, including filtered calls' }),
  filtered: Type.Integer({ description: 'calls that were blocked' }),
  firstSeenAt: Type.Optional(time()),
  lastSeenAt: Type.Optional(time()),
  blocked: Type.Boolean({ description: 'whether the source currently blocks the event' }),
});

const otherSchema = Type.Object(
  {
    count: Type.Integer(),
    filtered: Type.Integer(),
    firstSeenAt: time(),
    lastSeenAt: time(),
  },
  {
    description:
      'calls whose events are not listed by name, because their names have more than 200 characters or their source had ' +
      'sent 500 other names that day; on the last page',
  },
);

const daySchema = Type.Object({
  day: Type.String({ format: 'date', description: 'in UTC' }),
  calls: Type.Integer({ description: 'including filtered calls' }),
  filtered: Type.Integer(),
  byType: Type.Record(Type.String(), Type.Integer()),
});

const cursors = cursorsOf('schema', 'text');

const listSourceEventsAnswers = {
  200: Type.Object({
    ...pageOf(named('SourceEvent', eventSchema)).properties,
    other: Type.Optional(otherSchema),
  }),
};

export function usageRoutes(
  app: Api,
  config: Pick<ConfigView, 'source'>,
  history: Pick<History, 'read'>,
): void {
  const route = routesOf(app, 'Sources', ['history-unavailable']);

  route.get('/sources/:id/events', {
    operationId: 'listSourceEvents',
    summary: 'List the events of a source by name',
    description: 'Events of track calls of the last 90 days, and blocked events.',
    querystring: pageQuery,
    response: listSourceEventsAnswers,
    handler: ({ params: { id }, query: { limit = 50, cursor } }) => {
      const blocked = new Set(loadSource(config, id).schema?.track?.blocked);
      const [after = ''] = cursors.decode(cursor) ?? [];
      const sent = history
        .read((queries) => queries.eventsOf(id, limit + 1, after))
        .map((usage) => ({
          event: usage.event,
          count: usage.calls,
          filtered: usage.filtered,
          firstSeenAt: formatInstant(usage.firstAt),
          lastSeenAt: formatInstant(usage.lastAt),
          blocked: blocked.has(usage.event),
        }));
      const names = new Set(sent.map(({ event }) => event));
      // Only names within this page: a blocked event after it may also have been sent.
      const end = sent.length > limit ? sent.at(-1)?.event : undefined;
      const unsent = [...blocked]
        .filter(
          (event) =>
            !names.has(event) && isBefore(after, event) && (end === undefined || isBefore(event, end)),
        )
        .map((event) => ({ event, count: 0, filtered: 0, blocked: true }));
      const items = [...sent, ...unsent].sort((a, b) => (isBefore(a.event, b.event) ? -1 : 1));
      const page = cursors.page(items, limit, ({ event }) => [event]);
      if (page.next !== undefined) return page;
      const other = history.read((queries) => queries.otherEventsOf(id));
      return { ...page, ...(other && { other: showOther(other) }) };
    },
  });

  route.get('/sources/:id/usage', {
    operationId: 'getSourceUsage',
    summary: 'Get the usage of a source by day',
    description: 'UTC days with routed calls, at most the last 90.',
    querystring: closedObject(periodParameters),
    response: { 200: Type.Object({ items: Type.Array(named('UsageDay', daySchema)) }) },
    handler: ({ params: { id }, query }) => {
      loadSource(config, id);
      const { since, until } = periodOf(query);
      const day = (ms: number): string => formatInstant(ms).slice(0, 10);
      const period = {
        ...(since !== undefined && { since: day(since) }),
        // The last day counts completely, unless the period ends at its start.
        ...(until !== undefined && { until: day(until - 1) }),
      };
      return { items: history.read((queries) => queries.daysOf(id, period)) };
    },
  });
}

function showOther({ calls, filtered, firstAt, lastAt }: Omit<NamedUsage, 'event'>) {
  return { count: calls, filtered, firstSeenAt: formatInstant(firstAt), lastSeenAt: formatInstant(lastAt) };
}

/** Byte order, as in the history. */
function isBefore(one: string, other: string): boolean {
  return Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0;
}
