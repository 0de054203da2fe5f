import assert from 'node:assert/strict';
import { test } from 'node:test';
import { preparedAuthenticator } from './authentication.ts';

/** An authenticator of the library for sessions of this time. */
function start(sessionMs: number, prepare?: () => Promise<void>) {
  const exchanges: string[] = [];
  const connection = { sasl: { ...(prepare && { prepare }) }, reauthenticationThreshold: 10_000 };
  class Original {
    readonly connection = connection;
    readonly sessionLifetime = String(sessionMs);
    authenticate(): Promise<void> {
      exchanges.push('exchange');
      return Promise.resolve();
    }
  }
  return { authenticator: new (preparedAuthenticator(Original))(), connection, exchanges };
}

test('nothing is sent to the broker where the preparation fails', async () => {
  const { authenticator, exchanges } = start(0, () => Promise.reject(new Error('no token')));
  await assert.rejects(authenticator.authenticate(), /no token/);
  assert.deepEqual(exchanges, []);
});

test('a connection authenticates again in the last tenth of its session, at most 10 s before its end', async () => {
  for (const [sessionMs, expected] of [
    [3_600_000, 10_000],
    [2_553, 255],
    [0, 0],
  ] as const) {
    const { authenticator, connection } = start(sessionMs);
    await authenticator.authenticate();
    assert.equal(connection.reauthenticationThreshold, expected);
  }
});
