/** The routes of a destination's statistics and failures. */
import type { ConfigView } from '@tailrace/config';
import { formatInstant, formatDuration, parseDuration } from '@tailrace/events';
import { percentile, totalOf, type Counts, type History } from '@tailrace/history';
import Type from 'typebox';
import { loadDestination } from '../configuration/destinations/destination.ts';
import { invalidField } from '../http/errors.ts';
import { closedPeriodOf, periodOf, periodParameters } from '../http/moment.ts';
import { closedObject, namedObject, optionalText, time } from '../http/schemas.ts';
import { routesOf, type Api } from '../http/api.ts';
import { attemptSchema, showAttempt } from './delivery-routes.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const maxSteps = 2_000;
/** The number of steps of a period if no step is given. */
const defaultSteps = 60;

const milliseconds = Type.Optional(Type.Number({ description: 'in milliseconds, within 2.5 %' }));
export const countFields = {
  attempts: Type.Integer(),
  delivered: Type.Integer(),
  retry: Type.Integer(),
  dead: Type.Integer(),
  latencyMs: Type.Object(
    { p50: milliseconds, p95: milliseconds, p99: milliseconds },
    { description: 'of attempts with any outcome' },
  ),
};

const getDestinationStatsQuery = closedObject({
  ...periodParameters,
  step: optionalText(
    'a number of whole minutes or hours, such as 5m or 1h; by default a sixtieth of the period, rounded up',
  ),
});
const getDestinationStatsAnswers = {
  200: Type.Object({
    destinationId: Type.String(),
    since: time(),
    until: time(),
    step: Type.String(),
    total: Type.Object(countFields),
    items: Type.Array(
      Type.Object({
        at: time('the start of the step'),
        ...countFields,
      }),
      { description: 'the steps with attempts, in order' },
    ),
    backlog: Type.Array(
      namedObject('BacklogStep', {
        at: time('the start of the step'),
        deliveries: Type.Integer({ description: 'pending at its end' }),
      }),
      { description: 'all steps of the period, in order' },
    ),
  }),
};

const getDestinationFailuresAnswers = {
  200: Type.Object({
    items: Type.Array(
      Type.Object({
        reason: Type.String(),
        count: Type.Integer({ description: 'attempts with this reason' }),
        dead: Type.Integer({ description: 'dead deliveries with this reason' }),
        firstAt: time(),
        lastAt: time(),
        samples: Type.Array(Type.Object({ deliveryId: Type.String(), ...attemptSchema.properties }), {
          description: 'the newest five attempts',
        }),
      }),
    ),
  }),
};

export function statisticsRoutes(
  app: Api,
  config: Pick<ConfigView, 'destination'>,
  history: Pick<History, 'read'>,
): void {
  const route = routesOf(app, 'History', ['history-unavailable']);

  route.get('/destinations/:id/stats', {
    operationId: 'getDestinationStats',
    summary: 'Get the attempts of a destination by outcome, with latencies',
    querystring: getDestinationStatsQuery,
    response: getDestinationStatsAnswers,
    handler: ({ params: { id }, query }) => {
      loadDestination(config, id);
      const now = Date.now();
      const period = closedPeriodOf(query, hourMs, now);
      const { until } = period;
      const since = Math.floor(period.since / minuteMs) * minuteMs;
      const stepMs = stepOf(query.step, until - since);
      const first = Math.floor(since / stepMs) * stepMs;
      const { steps, backlog } = history.read((queries) => {
        const pending = queries.pendingOf(id).reduce((sum, { deliveries }) => sum + deliveries, 0);
        return {
          steps: queries.countsOf(id, { since, until, stepMs }),
          backlog: queries.backlogOf(id, { since: first, until, stepMs }, pending),
        };
      });
      return {
        destinationId: id,
        since: formatInstant(since),
        until: formatInstant(until),
        step: formatDuration(stepMs),
        total: showCounts(totalOf(steps.values())),
        items: Array.from(steps, ([at, counts]) => ({ at: formatInstant(at), ...showCounts(counts) })),
        backlog: Array.from(backlog, ([at, deliveries]) => ({ at: formatInstant(at), deliveries })),
      };
    },
  });

  route.get('/destinations/:id/failures', {
    operationId: 'getDestinationFailures',
    summary: 'Get the failures of a destination by reason, with samples',
    querystring: closedObject({ since: periodParameters.since }),
    response: getDestinationFailuresAnswers,
    handler: ({ params: { id }, query, role }) => {
      loadDestination(config, id);
      const { since = Date.now() - 24 * hourMs } = periodOf(query);
      const failures = history.read((queries) => queries.failuresOf(id, since));
      return {
        items: failures.map(({ reason, attempts, dead, firstAt, lastAt, samples }) => ({
          reason,
          count: attempts,
          dead,
          firstAt: formatInstant(firstAt),
          lastAt: formatInstant(lastAt),
          samples: samples.map((attempt) => ({
            deliveryId: attempt.deliveryId,
            ...showAttempt(attempt, role),
          })),
        })),
      };
    },
  });
}

function stepOf(text: string | undefined, periodMs: number): number {
  const stepMs = text === undefined ? defaultStep(periodMs) : parseDuration(text);
  if (stepMs === undefined || stepMs < minuteMs || stepMs % minuteMs !== 0) {
    throw invalidField('step', 'is not a number of whole minutes or hours, such as 5m');
  }
  if (periodMs / stepMs > maxSteps)
    throw invalidField('step', `is too short: the period has more than ${maxSteps} such steps`);
  return stepMs;
}

function defaultStep(periodMs: number): number {
  const exact = Math.max(periodMs, 1) / defaultSteps;
  const unitMs = exact > hourMs ? hourMs : minuteMs;
  return Math.ceil(exact / unitMs) * unitMs;
}

export function showCounts(counts: Counts) {
  const { delivered = 0, retry = 0, dead = 0 } = counts.outcomes;
  const attempts = delivered + retry + dead;
  const latencyMs =
    attempts === 0
      ? {}
      : { p50: percentile(counts, 0.5), p95: percentile(counts, 0.95), p99: percentile(counts, 0.99) };
  return { attempts, delivered, retry, dead, latencyMs };
}
