/** The routes that send again what was sent before: one delivery, or the failures of a destination. */
import { formatInstant } from '@tailrace/events';
import type { Kafka } from '@tailrace/kafka';
import Type from 'typebox';
import { audit } from '../http/audit.ts';
import { invalidField } from '../http/errors.ts';
import { periodOf, periodParameters } from '../http/moment.ts';
import { named, time } from '../http/schemas.ts';
import { routesOf, type Api } from '../http/api.ts';
import { rateField } from './replay-routes.ts';
import { replaySchema, showReplay } from './shown-replay.ts';
import { requireEnabled } from './require-enabled.ts';
import type { Replays } from './replays.ts';
import { resend, type ResendDependencies } from './resend.ts';

const resentSchema = Type.Object({
  deliveryId: Type.String({ description: 'the same as before: receivers recognise the delivery by it' }),
  eventId: Type.String({ description: 'the messageId of the call' }),
  destinationId: Type.String(),
  requestedAt: time(),
});

const recoverySchema = Type.Object(
  {
    since: Type.String({
      description:
        'the beginning of the period: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d)',
    }),
    until: periodParameters.until,
    ratePerSecond: rateField,
    dryRun: Type.Optional(
      Type.Boolean({ default: false, description: 'true or false; true counts and publishes nothing' }),
    ),
  },
  { additionalProperties: false, examples: [{ since: '2h' }] },
);

const giveUpAfterMs = 10_000;

export interface ResendNeeds extends Omit<ResendDependencies, 'publisher'> {
  readonly kafka: Pick<Kafka, 'publisher'>;
  readonly replays: Pick<Replays, 'start' | 'maySend'>;
}

export function resendRoutes(app: Api, { kafka, ...needs }: ResendNeeds): void {
  const publisher = kafka.publisher({ giveUpAfterMs });

  routesOf(app, 'What happened').post('/deliveries/:deliveryId/resend', {
    operationId: 'resendDelivery',
    summary: 'Send a delivery again',
    description:
      'A delivery that was delivered, or that is dead, is sent again with the same delivery id and body, and has a new retry ' +
      'schedule. A dead letter then counts as replayed.',
    response: { 202: named('Resent', resentSchema) },
    errors: ['history-unavailable', 'conflict', 'expired'],
    handler: async (request, reply) => {
      const { deliveryId } = request.params;
      audit(request, 'delivery.resend', `delivery/${deliveryId}`);
      const resent = await resend({ ...needs, publisher }, deliveryId, request.caller);
      return reply.status(202).send({ ...resent, requestedAt: formatInstant(Date.now()) });
    },
  });

  routesOf(app, 'Destinations').post('/destinations/:id/recover', {
    operationId: 'recoverDestination',
    summary: 'Replay the failures of a destination since a time',
    description:
      'Starts a replay of all dead letters of the destination since then that were not replayed. `GET /v1/replays/{id}` has ' +
      'its progress.',
    body: named('RecoveryInput', recoverySchema),
    response: { 202: named('Replay', replaySchema) },
    errors: ['conflict'],
    handler: async (request, reply) => {
      const { id } = request.params;
      audit(request, 'destination.recover', `destination/${id}`);
      const { since, until, ratePerSecond = 50, dryRun = false } = request.body;
      const period = periodOf({ since, until });
      if (period.since === undefined) throw invalidField('since', 'is missing');
      requireEnabled(needs.config, id, 'would become a dead letter again');
      const order = {
        filter: { destinationId: id, ...period },
        ratePerSecond,
        dryRun,
        by: request.caller?.name,
      };
      const replay = await needs.replays.start(order, request.caller, request.idempotency?.id);
      return reply
        .status(202)
        .header('location', `/v1/replays/${replay.id}`)
        .send(showReplay({ ...replay, paused: false }, request.role));
    },
  });
}
