/** The routes of the whole flow: from received to delivered with the reason of each exit, and what is pending. */
import type { ConfigView } from '@tailrace/config';
import { formatInstant } from '@tailrace/events';
import { formatDuration, parseDuration, type TopicNames } from '@tailrace/topics';
import Type from 'typebox';
import { loadDestination } from '../configuration/destinations/destination.ts';
import { invalidField } from '../http/errors.ts';
import { closedPeriodOf, periodParameters } from '../http/moment.ts';
import { named } from '../http/schemas.ts';
import type { Api } from '../http/api.ts';
import { addCounts, allDestinations, noCounts, type Counts, type FlowRow, type History } from './index.ts';
import { countFields, showCounts } from './statistics-routes.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Older periods are known by the hour. */
const minutesFor = 46 * hourMs;
const defaultSteps = 60;
const maxSteps = 1_500;
const maxBreakers = 20;

const reasonCount = named('ReasonCount', Type.Object({ reason: Type.String(), count: Type.Integer() }));
const flowFields = {
  received: Type.Integer({ description: 'events that the router has read' }),
  blocked: Type.Integer({ description: 'of them, those that the schema of their source blocks' }),
  unconnected: Type.Integer({ description: 'of them, those whose source is connected to no destination' }),
  waiting: Type.Integer({ description: 'deliveries, not attempted yet' }),
  retrying: Type.Integer(),
  delivered: Type.Integer(),
  dead: Type.Integer(),
  unknown: Type.Integer({ description: 'sent or given up; the record of their last attempt was lost' }),
};
const totalSchema = named(
  'Flow',
  Type.Object(
    {
      ...flowFields,
      filtered: Type.Array(reasonCount, {
        description: 'why connected destinations did not get events, once for each destination',
      }),
      deadReasons: Type.Array(reasonCount, { description: 'why deliveries are dead' }),
      attempts: named('AttemptCounts', Type.Object(countFields)),
    },
    { description: 'deliveries count in the period in which they were made, with their current status' },
  ),
);
const pendingSchema = named(
  'PendingDeliveries',
  Type.Object({
    tier: Type.Optional(
      Type.String({
        description: 'the delay of the retry topic in which they wait, such as 5m; none: the first queue',
      }),
    ),
    reason: Type.Optional(Type.String()),
    deliveries: Type.Integer(),
  }),
);
const time = Type.String({ format: 'date-time' });
const openSince = Type.String({
  format: 'date-time',
  description: 'since when the circuit breaker is open, as the latest attempt reported',
});

export interface OverviewNeeds {
  readonly config: Pick<ConfigView, 'destination'>;
  readonly history: History;
  readonly names: Pick<TopicNames, 'retryTierDelayMs'>;
}

export function overviewRoutes(app: Api, { config, history, names }: OverviewNeeds): void {
  const tags = ['History'];
  const errors = { errors: ['history-unavailable'] as const };

  const showPending = (rows: ReturnType<History['pendingOf']>) => {
    const found = rows.map(({ topic, reason, deliveries }) => ({
      delayMs: names.retryTierDelayMs(topic) ?? -1,
      reason,
      deliveries,
    }));
    return found
      .sort((a, b) => a.delayMs - b.delayMs || b.deliveries - a.deliveries)
      .map(({ delayMs, reason, deliveries }) => ({
        ...(delayMs >= 0 && { tier: formatDuration(delayMs) }),
        ...(reason !== '' && { reason }),
        deliveries,
      }));
  };

  const openSinceOf = (destinationId: string) => {
    const since = history.breakerOpenSince(destinationId);
    return since === undefined ? {} : { openSince: formatInstant(since) };
  };

  app.get(
    '/overview',
    {
      config: errors,
      schema: {
        operationId: 'getOverview',
        summary: 'Get the flow of all events',
        description:
          'The default period is the last hour; `before` is the period of the same length before it. Periods longer than 46 hours, or that ' +
          'began longer ago, are rounded to hours.',
        tags,
        querystring: Type.Object(
          {
            ...periodParameters,
            step: Type.Optional(
              Type.String({ description: 'a number of whole minutes or hours, such as 5m or 1h' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: named(
            'Overview',
            Type.Object({
              since: time,
              until: time,
              step: Type.String(),
              total: totalSchema,
              before: totalSchema,
              items: Type.Array(
                named(
                  'FlowStep',
                  Type.Object({
                    at: Type.String({ format: 'date-time', description: 'the start of the step' }),
                    ...flowFields,
                    attempts: named('AttemptCounts', Type.Object(countFields)),
                  }),
                ),
                { description: 'all steps of the period, in order' },
              ),
              pending: Type.Array(pendingSchema),
              deadLetters: Type.Integer({ description: 'dead letters that were not replayed, of any age' }),
              breakers: Type.Array(
                named(
                  'OpenBreaker',
                  Type.Object({
                    destinationId: Type.String(),
                    deliveries: Type.Integer(),
                    openSince: Type.Optional(openSince),
                  }),
                ),
                { description: 'destinations whose deliveries wait for an open circuit breaker, at most 20' },
              ),
              behind: Type.Integer({ description: 'records that the history has not read yet' }),
            }),
          ),
        },
      },
    },
    ({ query }) => {
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
      const flow = history.flowOf(period);
      const counts = history.countsOf(allDestinations, period);
      const byStep = Map.groupBy(flow, ({ at }) => at);
      const items = [];
      for (let at = since; at < until; at += stepMs) {
        const { fields } = sumOf(byStep.get(at) ?? []);
        items.push({ at: formatInstant(at), ...fields, attempts: showCounts(counts.get(at) ?? noCounts()) });
      }
      return {
        since: formatInstant(since),
        until: formatInstant(until),
        step: formatDuration(stepMs),
        total: { ...totalsOf(flow), attempts: showCounts(totalOf(counts)) },
        before: {
          ...totalsOf(history.flowOf(before)),
          attempts: showCounts(totalOf(history.countsOf(allDestinations, before))),
        },
        items,
        pending: showPending(history.pendingOf()),
        deadLetters: history.openDeadLetters(),
        breakers: history
          .destinationsWaitingFor('circuit-open', maxBreakers)
          .map(({ destinationId, deliveries }) => ({
            destinationId,
            deliveries,
            ...openSinceOf(destinationId),
          })),
        behind: history.status.behind,
      };
    },
  );

  app.get(
    '/destinations/:id/pending',
    {
      config: errors,
      schema: {
        operationId: 'getDestinationPending',
        summary: 'Get what the deliveries of a destination wait for',
        tags,
        params: Type.Object({ id: Type.String() }),
        response: {
          200: named(
            'DestinationPending',
            Type.Object({
              items: Type.Array(pendingSchema),
              total: Type.Integer(),
              openSince: Type.Optional(openSince),
              oldestAt: Type.Optional(
                Type.String({ format: 'date-time', description: 'when the oldest of them was made' }),
              ),
              nextDueAt: Type.Optional(
                Type.String({
                  format: 'date-time',
                  description:
                    'when the first of the newest deliveries is attempted again; with the reason circuit-open: when the receiver is probed',
                }),
              ),
              reason: Type.Optional(Type.String({ description: 'why this delivery waits' })),
            }),
          ),
        },
      },
    },
    ({ params: { id } }) => {
      loadDestination(config, id);
      const rows = history.pendingOf(id);
      const next = history.nextDueOf(id);
      const oldestAt = history.oldestPendingOf(id);
      return {
        items: showPending(rows),
        total: rows.reduce((sum, { deliveries }) => sum + deliveries, 0),
        // Without a delivery that waits for it, the latest attempt says nothing of now.
        ...(rows.some(({ reason }) => reason === 'circuit-open') && openSinceOf(id)),
        ...(oldestAt !== undefined && { oldestAt: formatInstant(oldestAt) }),
        ...(next && {
          nextDueAt: formatInstant(next.at),
          ...(next.reason !== '' && { reason: next.reason }),
        }),
      };
    },
  );
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

function totalOf(counts: ReadonlyMap<number, Counts>): Counts {
  const total = noCounts();
  for (const one of counts.values()) addCounts(total, one);
  return total;
}

function sumOf(rows: readonly FlowRow[]) {
  const of = (kind: FlowRow['kind']): number =>
    rows.reduce((sum, row) => sum + (row.kind === kind ? row.count : 0), 0);
  const reasonsOf = (kind: FlowRow['kind']) => {
    const sums = new Map<string, number>();
    for (const row of rows) {
      if (row.kind === kind && row.count > 0) sums.set(row.reason, (sums.get(row.reason) ?? 0) + row.count);
    }
    return [...sums].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count);
  };
  return {
    fields: {
      received: of('received'),
      blocked: of('blocked'),
      unconnected: of('unconnected'),
      waiting: of('waiting'),
      retrying: of('retrying'),
      delivered: of('delivered'),
      dead: of('dead'),
      unknown: of('unknown'),
    },
    reasonsOf,
  };
}

function totalsOf(rows: readonly FlowRow[]) {
  const { fields, reasonsOf } = sumOf(rows);
  return { ...fields, filtered: reasonsOf('filtered'), deadReasons: reasonsOf('dead') };
}
