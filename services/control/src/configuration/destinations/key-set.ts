/** Serves the public keys of destinations with `ed25519` as a JSON Web Key Set (RFC 7517), to everybody. */
import type { ConfigView, Destination } from '@tailrace/config';
import { signingKeysOf } from '@tailrace/webhook';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { namedObject, optionalText } from '../../http/schemas.ts';

/** Receivers may keep the keys for so long; during a rotation the previous key is there for longer. */
const maxAgeS = 300;

const keySet = namedObject('KeySet', {
  keys: Type.Array(
    namedObject('PublicKey', {
      kty: Type.Literal('OKP'),
      crv: Type.Literal('Ed25519'),
      x: Type.String({ description: 'the 32 bytes of the key in base64url' }),
      kid: Type.String({ description: 'the thumbprint of the key (RFC 7638)' }),
      use: Type.Literal('sig'),
      alg: Type.Literal('EdDSA'),
    }),
    {
      description: 'of each destination first the key that signs, then a previous one that did or still does',
    },
  ),
});

export function serveKeySet(
  app: FastifyInstance,
  config: Pick<ConfigView, 'destination' | 'destinations'>,
): void {
  const textOf = createTexts();
  app.get(
    '/.well-known/tailrace/jwks.json',
    {
      schema: {
        operationId: 'getKeySet',
        summary: 'Get the public keys that verify webhooks',
        description:
          'A receiver has to take the keys of its own destination alone: who may change another destination could send it ' +
          'what that one signs. Needs no token.',
        tags: ['Destinations'],
        security: [],
        querystring: Type.Object({
          destination: optionalText('the keys of this destination, without it those of all'),
        }),
        response: { 200: keySet },
      },
    },
    (request, reply) => {
      const { destination: id } = request.query as { readonly destination?: string };
      const found = id === undefined ? undefined : config.destination(id);
      const wanted = id === undefined ? config.destinations() : found ? [found] : [];
      return reply
        .header('cache-control', `public, max-age=${maxAgeS}`)
        .type('application/json')
        .send(textOf(wanted));
    },
  );
}

/** Everybody may ask, so the text of all keys is made once for each configuration. */
function createTexts(): (destinations: readonly Destination[]) => string {
  const texts = new WeakMap<readonly Destination[], string>();
  return (destinations) => {
    let text = texts.get(destinations);
    if (text === undefined) {
      const keys = destinations.flatMap(({ settings: { ed25519 } }) =>
        ed25519 ? signingKeysOf(ed25519).map(({ jwk }) => jwk) : [],
      );
      texts.set(destinations, (text = JSON.stringify({ keys })));
    }
    return text;
  };
}
