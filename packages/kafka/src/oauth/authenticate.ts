/**
 * SASL OAUTHBEARER (RFC 7628) for the library, whose own takes a refusal for success: the broker reports it in a message that the
 * client has to read and to acknowledge.
 */
import { TailraceError } from '@tailrace/errors';
import type { Mechanism } from 'kafkajs';
import type { Prepared } from '../patches/connections/authentication.ts';
import type { TokenSource } from './token-source.ts';

const separator = '\u0001';

export function oauthBearer(tokens: TokenSource): Mechanism & Prepared {
  return {
    mechanism: 'oauthbearer',
    prepare: async () => {
      await tokens.current();
    },
    authenticationProvider: ({ saslAuthenticate }) => ({
      async authenticate() {
        const token = await tokens.current();
        const send = async (message: string): Promise<string> =>
          (await saslAuthenticate({ request: { encode: () => withLength(message) }, response: text })) ?? '';
        try {
          const refusal = await send(`n,,${separator}auth=Bearer ${token}${separator}${separator}`);
          if (refusal === '') return;
          // The broker then ends the exchange with its reason.
          await send(separator);
          throw refused(refusal);
        } catch (error) {
          if ((error as { type?: unknown }).type !== 'SASL_AUTHENTICATION_FAILED') throw error;
          tokens.refused(token);
          throw refused((error as Error).message, error);
        }
      },
    }),
  };
}

function refused(reason: string, cause?: unknown): TailraceError {
  return new TailraceError(
    'kafka-refused-credentials',
    `Kafka refused the token of KAFKA_OAUTH_TOKEN_URL: ${reason.slice(0, 300)}. ` +
      'Check the audience, the scope and the issuer that the brokers expect.',
    { cause },
  );
}

function withLength(text: string): Buffer {
  const message = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeInt32BE(message.length);
  return Buffer.concat([length, message]);
}

const text = {
  decode: (message: Buffer): Buffer => message.subarray(4),
  parse: (message: Buffer): string => message.toString(),
};
