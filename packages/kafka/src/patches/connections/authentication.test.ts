import assert from 'node:assert/strict';
import { test } from 'node:test';
import { original, patched } from '../testing/original.ts';
import { silent } from '../testing/silent.ts';

interface Authenticator {
  authenticate(): Promise<void>;
}
type AuthenticatorClass = new (
  connection: object,
  logger: object,
  versions: object,
  supportsProtocol: boolean,
) => Authenticator;

const handshake = 17;
const exchange = 36;
const versions = { [handshake]: { maxVersion: 1 }, [exchange]: { maxVersion: 1 } };

/** An authenticator for sessions of this time, with a token that `token` provides. */
function start(load: typeof original, sessionMs: number, token: () => Promise<void>) {
  const sent: number[] = [];
  const connection = {
    sasl: {
      mechanism: 'TOKEN',
      prepare: token,
      authenticationProvider: ({
        saslAuthenticate,
      }: {
        saslAuthenticate: (of: object) => Promise<void>;
      }) => ({
        authenticate: async () => {
          await token();
          await saslAuthenticate({ request: { encode: () => Buffer.from('token') } });
        },
      }),
    },
    reauthenticationThreshold: 10_000,
    send: ({ request }: { request: { apiKey: number } }) => {
      sent.push(request.apiKey);
      return Promise.resolve({ enabledMechanisms: ['TOKEN'], sessionLifetimeMs: String(sessionMs) });
    },
  };
  const Authenticator = load('broker/saslAuthenticator') as AuthenticatorClass;
  const logger = { namespace: () => undefined };
  return { authenticator: new Authenticator(connection, logger, versions, true), connection, sent };
}

test('nothing is sent to the broker where the preparation fails', async () => {
  const noToken = () => Promise.reject(new Error('no token'));
  const before = start(original, 0, noToken);
  await assert.rejects(before.authenticator.authenticate(), /no token/);
  assert.deepEqual(before.sent, [handshake], 'the original has begun an exchange');
  const after = start(patched, 0, noToken);
  await assert.rejects(after.authenticator.authenticate(), /no token/);
  assert.deepEqual(after.sent, []);
});

test('a connection authenticates again in the last tenth of its session, at most 10 s before its end', async () => {
  for (const [sessionMs, expected] of [
    [3_600_000, 10_000],
    [2_553, 255],
    [0, 0],
  ] as const) {
    const { authenticator, connection, sent } = start(patched, sessionMs, () => Promise.resolve());
    await authenticator.authenticate();
    assert.equal(connection.reauthenticationThreshold, expected);
    assert.deepEqual(sent, [handshake, exchange]);
  }
  const { authenticator, connection } = start(original, 2_553, () => Promise.resolve());
  await authenticator.authenticate();
  assert.equal(connection.reauthenticationThreshold, 10_000, 'the original: longer than the session');
});

/** The error of an authentication with a password, of which the broker's answer to the exchange is this error. */
async function errorOf(load: typeof original, answer: Error): Promise<unknown> {
  const connection = {
    sasl: { mechanism: 'plain', username: 'user', password: 'password' },
    send: ({ request }: { request: { apiKey: number } }) =>
      request.apiKey === exchange
        ? Promise.reject(answer)
        : Promise.resolve({ enabledMechanisms: ['PLAIN'] }),
  };
  const Authenticator = load('broker/saslAuthenticator') as AuthenticatorClass;
  return new Authenticator(connection, silent, versions, true)
    .authenticate()
    .catch((error: unknown) => error);
}

test('a connection that is lost while it authenticates is no refusal of the password', async () => {
  const lost = Object.assign(new Error('Closed connection'), { name: 'KafkaJSConnectionClosedError' });
  assert.equal(await errorOf(patched, lost), lost);
  const before = await errorOf(original, lost);
  assert.equal((before as Error).name, 'KafkaJSSASLAuthenticationError', 'the original takes it for one');
  const refused = Object.assign(new Error('refused'), { type: 'SASL_AUTHENTICATION_FAILED' });
  assert.equal(((await errorOf(patched, refused)) as Error).name, 'KafkaJSSASLAuthenticationError');
});
