/** The route that rotates the secret of a destination: the server makes the new one. */
import { randomBytes } from 'node:crypto';
import type { ConfigEditor, Destination } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { formatInstant, formatDuration, parseDuration } from '@tailrace/events';
import Type from 'typebox';
import { audit } from '../../http/audit.ts';
import { invalidField } from '../../http/errors.ts';
import { closedObject, etagHeader, ifMatch, optionalText, time } from '../../http/schemas.ts';
import { routesOf, type Api } from '../../http/api.ts';
import { destinationErrors } from './routes.ts';
import { destinationEntries, validDestination } from './destination.ts';
import { mergePatch } from '../entry/merge-patch.ts';

const secretBytes = 32;
const dayMs = 86_400_000;
const mostMs = 30 * dayMs;

const rotateSecretBody = Type.Union([
  closedObject({
    keepPreviousFor: optionalText(
      'how long the previous secret still signs: a duration from 0s to 30d, such as 24h (default)',
    ),
    force: Type.Optional(
      Type.Boolean({
        description: 'true drops a secret that is still kept by an earlier rotation',
      }),
    ),
  }),
  Type.Null(),
]);
const rotateSecretAnswers = {
  200: {
    ...Type.Object({
      sharedSecret: Type.String({ description: 'the new secret, shown once' }),
      previousSharedSecretUntil: Type.Optional(time('when the previous secret is dropped')),
    }),
    headers: etagHeader,
  },
};

export function rotationRoutes(app: Api, config: ConfigEditor): void {
  const route = routesOf(app, 'Destinations', destinationErrors);
  const { change } = destinationEntries(config);
  route.post('/destinations/:id/rotate-secret', {
    operationId: 'rotateSecret',
    summary: 'Rotate the secret of a destination',
    description:
      'Makes a new sharedSecret, and answers it: it cannot be read again. Until `previousSharedSecretUntil` requests are signed ' +
      'with both: `webhook-signature` contains both signatures, and `X-Signature`, which is a single one, is made with the ' +
      'previous secret. From then on both are made with the new one. Give receivers the new secret beside the previous one ' +
      'before that time.',
    headers: ifMatch,
    body: rotateSecretBody,
    response: rotateSecretAnswers,
    errors: [...destinationErrors, 'conflict'],
    handler: async (request, reply) => {
      const { id } = request.params;
      audit(request, 'destination.rotate-secret', `destination/${id}`);
      const { keepPreviousFor = formatDuration(dayMs), force = false } =
        (request.body as typeof request.body | undefined) ?? {};
      const keepMs = parseDuration(keepPreviousFor);
      if (keepMs === undefined || keepMs > mostMs) {
        throw invalidField('keepPreviousFor', 'is not a duration from 0s to 30d, such as 24h');
      }
      const random = randomBytes(secretBytes);
      const now = Date.now();
      const { entry } = await change(request, reply, 'rotate-secret', (stored, current) => {
        if (!force) refuseSecondRotation(stored, now);
        return validDestination(rotated(stored, random, keepMs, now), stored, current);
      });
      const { sharedSecret, previousSharedSecretUntil } = entry.settings;
      return { sharedSecret, ...(previousSharedSecretUntil !== undefined && { previousSharedSecretUntil }) };
    },
  });
}

/** A second rotation would drop the secret that receivers may still know alone. */
function refuseSecondRotation({ settings }: Destination, now: number): void {
  const { previousSharedSecret, previousSharedSecretUntil: until } = settings;
  if (previousSharedSecret === undefined) return;
  if (until !== undefined && Date.parse(until) <= now) return;
  throw new TailraceError(
    'conflict',
    `The previous secret is still in use${until === undefined ? '' : ` until ${until}`}. Wait, or remove previousSharedSecret, or rotate with force.`,
  );
}

function rotated(stored: Destination, random: Buffer, keepMs: number, now: number): Destination {
  const { sharedSecret: previous, standardWebhooks } = stored.settings;
  // The form of Standard Webhooks, whose key is the bytes that follow in base64.
  const sharedSecret =
    standardWebhooks === true ? `whsec_${random.toString('base64')}` : random.toString('hex');
  const isKept = previous !== undefined && keepMs > 0;
  const settings = {
    sharedSecret,
    previousSharedSecret: isKept ? previous : null,
    previousSharedSecretUntil: isKept ? formatInstant(now + keepMs) : null,
  };
  return mergePatch(stored, { settings }) as Destination;
}
