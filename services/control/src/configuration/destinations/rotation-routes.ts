/** The routes that rotate a secret of a destination: the server makes the new one. */
import { randomBytes } from 'node:crypto';
import { newSigningKey, type ConfigEditor, type Destination } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { formatInstant, formatDuration, parseDuration } from '@tailrace/events';
import { signingKeysOf } from '@tailrace/webhook';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { audit } from '../../http/audit.ts';
import { invalidField } from '../../http/errors.ts';
import { closedObject, etagHeader, ifMatch, optionalText, time } from '../../http/schemas.ts';
import { routesOf, type Api } from '../../http/api.ts';
import { destinationErrors } from './routes.ts';
import { destinationEntries, validDestination } from './destination.ts';
import { isOver, publishedForMs } from './expired-secrets.ts';
import { mergePatch } from '../entry/merge-patch.ts';

const secretBytes = 32;
const dayMs = 86_400_000;
const mostMs = 30 * dayMs;

const rotationBody = Type.Union([
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
const rotateSigningKeyAnswers = {
  200: {
    ...Type.Object({
      publicKey: Type.String({ description: 'the new public key: `whpk_` and 32 bytes in base64' }),
      previousKeyUntil: Type.Optional(time('until when the previous key signs too')),
    }),
    headers: etagHeader,
  },
};

/** A secret of a destination, the one before it, and when that one ends. */
interface Secrets<None = undefined> {
  readonly current: string | None;
  readonly previous: string | None;
  readonly until: string | None;
}

/** A secret that can be rotated. */
interface Rotatable {
  readonly action: 'rotate-secret' | 'rotate-signing-key';
  readonly make: (stored: Destination) => string;
  readonly read: (settings: Destination['settings']) => Secrets;
  /** As a patch of the settings. */
  readonly write: (secrets: Secrets<null>) => object;
  /** The field of the previous one. */
  readonly previous: string;
  /** How long the previous one is kept after its time. */
  readonly keptForMs: number;
}

const sharedSecret: Rotatable = {
  action: 'rotate-secret',
  make({ settings }) {
    const random = randomBytes(secretBytes);
    // The form of Standard Webhooks, whose key is the bytes that follow in base64.
    return settings.standardWebhooks === true ? `whsec_${random.toString('base64')}` : random.toString('hex');
  },
  read: ({ sharedSecret, previousSharedSecret, previousSharedSecretUntil }) => ({
    current: sharedSecret,
    previous: previousSharedSecret,
    until: previousSharedSecretUntil,
  }),
  write: ({ current, previous, until }) => ({
    sharedSecret: current,
    previousSharedSecret: previous,
    previousSharedSecretUntil: until,
  }),
  previous: 'previousSharedSecret',
  keptForMs: 0,
};

const signingKey: Rotatable = {
  action: 'rotate-signing-key',
  make: newSigningKey,
  read: ({ ed25519: { key, previousKey, previousKeyUntil } = {} }) => ({
    current: key,
    previous: previousKey,
    until: previousKeyUntil,
  }),
  write: ({ current, previous, until }) => ({
    ed25519: { key: current, previousKey: previous, previousKeyUntil: until },
  }),
  previous: 'ed25519.previousKey',
  keptForMs: publishedForMs,
};

export function rotationRoutes(app: Api, config: ConfigEditor): void {
  const route = routesOf(app, 'Destinations', destinationErrors);
  const { change } = destinationEntries(config);

  const rotate = async (
    of: Rotatable,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Destination['settings']> => {
    const { id } = request.params as { readonly id: string };
    audit(request, `destination.${of.action}`, `destination/${id}`);
    const { keepPreviousFor = formatDuration(dayMs), force = false } =
      (request.body as { readonly keepPreviousFor?: string; readonly force?: boolean } | undefined) ?? {};
    const keepMs = parseDuration(keepPreviousFor);
    if (keepMs === undefined || keepMs > mostMs) {
      throw invalidField('keepPreviousFor', 'is not a duration from 0s to 30d, such as 24h');
    }
    const now = Date.now();
    const { entry } = await change(request, reply, of.action, (stored, current) => {
      if (!force) refuseSecondRotation(of, stored, now);
      return validDestination(rotated(of, stored, { keepMs, now }), stored, current);
    });
    return entry.settings;
  };

  route.post('/destinations/:id/rotate-secret', {
    operationId: 'rotateSecret',
    summary: 'Rotate the secret of a destination',
    description:
      'Makes a new sharedSecret, and answers it: it cannot be read again. Until `previousSharedSecretUntil` requests are signed ' +
      'with both: `webhook-signature` contains both signatures, and `X-Signature`, which is a single one, is made with the ' +
      'previous secret. From then on both are made with the new one. Give receivers the new secret beside the previous one ' +
      'before that time.',
    headers: ifMatch,
    body: rotationBody,
    response: rotateSecretAnswers,
    errors: [...destinationErrors, 'conflict'],
    handler: async (request, reply) => {
      const { sharedSecret: made, previousSharedSecretUntil } = await rotate(sharedSecret, request, reply);
      return {
        sharedSecret: made,
        ...(previousSharedSecretUntil !== undefined && { previousSharedSecretUntil }),
      };
    },
  });

  route.post('/destinations/:id/rotate-signing-key', {
    operationId: 'rotateSigningKey',
    summary: 'Rotate the Ed25519 key of a destination',
    description:
      'Makes a new key, also the first one, and publishes it at `/.well-known/tailrace/jwks.json`. Until `previousKeyUntil` ' +
      '`webhook-signature` has the signatures of both keys, and the previous one is published for an hour longer. With ' +
      '`keepPreviousFor: 0s` it ends at once, as it must where it has leaked.',
    headers: ifMatch,
    body: rotationBody,
    response: rotateSigningKeyAnswers,
    errors: [...destinationErrors, 'conflict'],
    handler: async (request, reply) => {
      const { ed25519 = {} } = await rotate(signingKey, request, reply);
      const { previousKeyUntil } = ed25519;
      const [key] = signingKeysOf(ed25519);
      const bytes = Buffer.from(key?.jwk.x ?? '', 'base64url');
      return {
        publicKey: `whpk_${bytes.toString('base64')}`,
        ...(previousKeyUntil !== undefined && { previousKeyUntil }),
      };
    },
  });
}

/** A second rotation would drop the secret that receivers may still know alone. */
function refuseSecondRotation(of: Rotatable, { settings }: Destination, now: number): void {
  const { previous, until } = of.read(settings);
  if (previous === undefined) return;
  if (isOver(until, now - of.keptForMs)) return;
  const end = until === undefined ? '' : ` until ${formatInstant(Date.parse(until) + of.keptForMs)}`;
  throw new TailraceError(
    'conflict',
    `The previous secret is still in use${end}. Wait, or remove ${of.previous}, or rotate with force.`,
  );
}

function rotated(
  of: Rotatable,
  stored: Destination,
  { keepMs, now }: { readonly keepMs: number; readonly now: number },
): Destination {
  const { current: previous } = of.read(stored.settings);
  const kept =
    previous !== undefined && keepMs > 0
      ? { previous, until: formatInstant(now + keepMs) }
      : { previous: null, until: null };
  const settings = of.write({ current: of.make(stored), ...kept });
  return mergePatch(stored, { settings }) as Destination;
}
