/** The routes of the whole flow: from received to delivered with the reason of each exit, and what is pending. */
import type { ConfigView } from '@tailrace/config';
import { isExpected } from '@tailrace/deadletters';
import { formatInstant, formatDuration, parseDuration } from '@tailrace/events';
import {
  allDestinations,
  totalOf,
  type Counts,
  type FlowRow,
  type History,
  type PendingRow,
} from '@tailrace/history';
import type { TopicNames } from '@tailrace/topology';
import Type from 'typebox';
import { loadDestination } from '../configuration/destinations/destination.ts';
import { invalidField } from '../http/errors.ts';
import { closedPeriodOf, periodParameters } from '../http/moment.ts';
import { closedObject, namedObject, optionalText, time } from '../http/schemas.ts';
import { routesOf, type Api } from '../http/api.ts';
import { countFields, showCounts } from './statistics-routes.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Older periods are known by the hour. */
const minutesFor = 46 * hourMs;
const defaultSteps = 60;
const maxSteps = 1_500;
const maxBreakers = 20;

const reasonCount = namedObject('ReasonCount', { reason: Type.String(), count: Type.Integer() });
const flowFields = {
  received: Type.Integer({ description: 'events that the router has read' }),
  blocked: Type.Integer({ description: 'of them, those that the schema of their source blocks' }),
  unconnected: Type.Integer({ description: 'of them, those whose source is connected to no destination' }),
  waiting: Type.Integer({ description: 'deliveries, not attempted yet' }),
  retrying: Type.Integer(),
  delivered: Type.Integer(),
  dead: Type.Integer({ description: 'of a failure' }),
  canceled: Type.Integer({ description: 'dead, and not of a failure: drained, or the user was deleted' }),
  unknown: Type.Integer({ description: 'sent or given up; the record of their last attempt was lost' }),
};
const totalSchema = namedObject(
  'Flow',
  {
    ...flowFields,
    filtered: Type.Array(reasonCount, {
      description: 'why connected destinations did not get events, once for each destination',
    }),
    deadReasons: Type.Array(reasonCount, { description: 'why deliveries are dead' }),
    canceledReasons: Type.Array(reasonCount),
    attempts: namedObject('AttemptCounts', countFields),
  },
  { description: 'deliveries count in the period in which they were made, with their current status' },
);
const pendingSchema = namedObject('PendingDeliveries', {
  tier: optionalText('the delay of the retry topic in which they wait, such as 5m; none: the first queue'),
  reason: Type.Optional(Type.String()),
  deliveries: Type.Integer(),
});
const openSince = time('since when the circuit breaker is open, as the latest attempt reported');
const stepSchema = namedObject('FlowStep', {
  at: time('the start of the step'),
  ...flowFields,
  attempts: namedObject('AttemptCounts', countFields),
});
const breakerSchema = namedObject('OpenBreaker', {
  destinationId: Type.String(),
  deliveries: Type.Integer(),
  openSince: Type.Optional(openSince),
});
const overviewSchema = namedObject('Overview', {
  since: time(),
  until: time(),
  step: Type.String(),
  total: totalSchema,
  before: totalSchema,
  items: Type.Array(stepSchema, { description: 'all steps of the period, in order' }),
  pending: Type.Array(pendingSchema),
  deadLetters: Type.Integer({ description: 'dead letters of a failure that were not replayed, of any age' }),
  breakers: Type.Array(breakerSchema, {
    description: 'destinations whose deliveries wait for an open circuit breaker, at most 20',
  }),
  behind: Type.Integer({ description: 'records that the history has not read yet' }),
});
const overviewQuery = closedObject({
  ...periodParameters,
  step: optionalText('a number of whole minutes or hours, such as 5m or 1h'),
});
const destinationSchema = namedObject('DestinationPending', {
  items: Type.Array(pendingSchema),
  total: Type.Integer(),
  openSince: Type.Optional(openSince),
  oldestAt: Type.Optional(time('when the oldest of them was made')),
  nextDueAt: Type.Optional(
    time(
      'when the first of the newest deliveries is attempted again; with the reason circuit-open: when the receiver is probed',
    ),
  ),
  reason: optionalText('why this delivery waits'),
});

export interface OverviewNeeds {
  readonly config: Pick<ConfigView, 'destination'>;
  readonly history: Pick<History, 'read' | 'status'>;
  readonly names: Pick<TopicNames, 'retryTierDelayMs'>;
}

export function overviewRoutes(app: Api, { config, history, names }: OverviewNeeds): void {
  const route = routesOf(app, 'History', ['history-unavailable']);
  route.get('/overview', {
    operationId: 'getOverview',
    summary: 'Get the flow of all events',
    description:
      'The default period is the last hour; `before` is the period of the same length before it. Periods longer than 46 hours, or that ' +
      'began longer ago, are rounded to hours.',
    querystring: overviewQuery,
    response: { 200: overviewSchema },
    handler: ({ query }) => {
      const now = Date.now();
      const wanted = closedPeriodOf(query, hourMs, now);
      const isLong = now - wanted.since > minutesFor;
      const unit = isLong ? hourMs : minuteMs;
      const stepMs = stepOf(query.step, wanted.until - wanted.since, unit);
      const since = Math.floor(wanted.since / stepMs) * stepMs;
      const until = Math.ceil(wanted.until / stepMs) * stepMs;
      const span = until - since;
      const period = { since, until, stepMs };
      const isBeforeLong = now - (since - span) > minutesFor;
      const before = { since: since - span, until: since, stepMs: isBeforeLong ? hourMs : stepMs };
      return history.read((queries) => {
        const flow = flowOf(queries.flowOf(period));
        const counts = queries.countsOf(allDestinations, period);
        return {
          since: formatInstant(since),
          until: formatInstant(until),
          step: formatDuration(stepMs),
          total: totalsOf(flow, counts),
          before: totalsOf(flowOf(queries.flowOf(before)), queries.countsOf(allDestinations, before)),
          items: stepsOf(period, flow, counts),
          pending: showPending(queries.pendingOf(), names),
          deadLetters: queries.openDeadLetters(),
          breakers: queries
            .destinationsWaitingFor('circuit-open', maxBreakers)
            .map(({ destinationId, deliveries }) => ({
              destinationId,
              deliveries,
              ...showOpenSince(queries.breakerOpenSince(destinationId)),
            })),
          behind: history.status.behind,
        };
      });
    },
  });

  route.get('/destinations/:id/pending', {
    operationId: 'getDestinationPending',
    summary: 'Get what the deliveries of a destination wait for',
    response: { 200: destinationSchema },
    handler: ({ params: { id } }) => {
      loadDestination(config, id);
      return history.read((queries) => {
        const rows = queries.pendingOf(id);
        const next = queries.nextDueOf(id);
        const oldestAt = queries.oldestPendingOf(id);
        // Without a delivery that waits for it, the latest attempt says nothing of now.
        const waitsForBreaker = rows.some(({ reason }) => reason === 'circuit-open');
        return {
          items: showPending(rows, names),
          total: rows.reduce((sum, { deliveries }) => sum + deliveries, 0),
          ...(waitsForBreaker && showOpenSince(queries.breakerOpenSince(id))),
          ...(oldestAt !== undefined && { oldestAt: formatInstant(oldestAt) }),
          ...(next && {
            nextDueAt: formatInstant(next.at),
            ...(next.reason !== '' && { reason: next.reason }),
          }),
        };
      });
    },
  });
}

function showPending(rows: readonly PendingRow[], names: OverviewNeeds['names']) {
  return rows
    .map(({ topic, reason, deliveries }) => ({
      delayMs: names.retryTierDelayMs(topic) ?? -1,
      reason,
      deliveries,
    }))
    .sort((a, b) => a.delayMs - b.delayMs || b.deliveries - a.deliveries)
    .map(({ delayMs, reason, deliveries }) => ({
      ...(delayMs >= 0 && { tier: formatDuration(delayMs) }),
      ...(reason !== '' && { reason }),
      deliveries,
    }));
}

function showOpenSince(since: number | undefined) {
  return since === undefined ? {} : { openSince: formatInstant(since) };
}

type Flow = Omit<FlowRow, 'kind'> & { readonly kind: FlowRow['kind'] | 'canceled' };

function flowOf(rows: readonly FlowRow[]): readonly Flow[] {
  return rows.map((row) =>
    row.kind === 'dead' && isExpected(row.reason) ? { ...row, kind: 'canceled' as const } : row,
  );
}

function stepsOf(
  { since, until, stepMs }: { readonly since: number; readonly until: number; readonly stepMs: number },
  flow: readonly Flow[],
  counts: ReadonlyMap<number, Counts>,
) {
  const byStep = Map.groupBy(flow, ({ at }) => at);
  const items = [];
  for (let at = since; at < until; at += stepMs) {
    const { fields } = sumOf(byStep.get(at) ?? []);
    const found = counts.get(at) ?? totalOf([]);
    items.push({ at: formatInstant(at), ...fields, attempts: showCounts(found) });
  }
  return items;
}

function stepOf(text: string | undefined, periodMs: number, unitMs: number): number {
  const wanted = text === undefined ? periodMs / defaultSteps : parseDuration(text);
  if (wanted === undefined || wanted <= 0 || (text !== undefined && wanted % minuteMs !== 0)) {
    throw invalidField('step', 'is not a number of whole minutes or hours, such as 5m');
  }
  const stepMs = Math.max(1, Math.ceil(wanted / unitMs)) * unitMs;
  if (periodMs / stepMs > maxSteps) {
    throw invalidField('step', `is too short: the period has more than ${maxSteps} such steps`);
  }
  return stepMs;
}

function sumOf(rows: readonly Flow[]) {
  const of = (kind: Flow['kind']): number =>
    rows.reduce((sum, row) => sum + (row.kind === kind ? row.count : 0), 0);
  const reasonsOf = (kind: Flow['kind']) => {
    const sums = new Map<string, number>();
    for (const row of rows) {
      if (row.kind === kind && row.count > 0) sums.set(row.reason, (sums.get(row.reason) ?? 0) + row.count);
    }
    return [...sums].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count);
  };
  const kinds = Object.keys(flowFields) as (keyof typeof flowFields)[];
  return { fields: Object.fromEntries(kinds.map((kind) => [kind, of(kind)])), reasonsOf };
}

function totalsOf(rows: readonly Flow[], counts: ReadonlyMap<number, Counts>) {
  const { fields, reasonsOf } = sumOf(rows);
  return {
    ...fields,
    filtered: reasonsOf('filtered'),
    deadReasons: reasonsOf('dead'),
    canceledReasons: reasonsOf('canceled'),
    attempts: showCounts(totalOf(counts.values())),
  };
}
