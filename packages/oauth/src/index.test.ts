import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readToken, tokenRequest } from './index.ts';

const client = { clientId: 'tail race', clientSecret: 'hunter2:%' };
const answer = (fields: object): string => JSON.stringify({ access_token: 'abc', ...fields });
const day = 86_400_000;

test('the client authenticates with HTTP Basic, form-encoded before, or in the body', () => {
  const { headers, body } = tokenRequest({ ...client, scope: 'a b', audience: 'https://crm.example/' });
  assert.equal(headers['Authorization'], `Basic ${btoa('tail+race:hunter2%3A%25')}`);
  assert.equal(body, 'grant_type=client_credentials&scope=a+b&audience=https%3A%2F%2Fcrm.example%2F');
  const inBody = tokenRequest({ ...client, authMethod: 'client_secret_post' });
  assert.equal(inBody.headers['Authorization'], undefined);
  assert.equal(inBody.body, 'grant_type=client_credentials&client_id=tail+race&client_secret=hunter2%3A%25');
});

test('a lifetime is that of the answer, at most a day, else that of the JWT, else five minutes', () => {
  const lifetime = (fields: object): number => {
    const token = readToken(200, answer(fields), client);
    return 'why' in token ? NaN : token.lifetimeMs;
  };
  assert.equal(lifetime({ expires_in: 60 }), 60_000);
  assert.equal(lifetime({ expires_in: '60' }), 60_000);
  for (const expires_in of [1e12, Number.MAX_VALUE, '1e999']) assert.equal(lifetime({ expires_in }), day);
  for (const expires_in of [undefined, 0, -1, null, 'soon', {}])
    assert.equal(lifetime({ expires_in }), 300_000);
  const claims = Buffer.from(JSON.stringify({ exp: 4e9 })).toString('base64url');
  assert.equal(lifetime({ access_token: `e30.${claims}.c2ln` }), day);
});

test('an answer without a token that fits a header is none', () => {
  const unusable = ['', '<html>', '[]', 'null', '{}', '{"access_token":7}', '{"access_token":{}}'];
  const tokens = ['', 'a b', 'a\nb', 'a\u0001b', 'tök', 'a\r\nX-Admin: 1', '=a'];
  for (const body of [...unusable, ...tokens.map((access_token) => answer({ access_token }))]) {
    assert.deepEqual(readToken(200, body, client), { why: 'answers without a valid access_token' }, body);
  }
});

test('a refusal has its reason in visible ASCII, without the secret in any form', () => {
  const why = (fields: object): string => {
    const read = readToken(401, JSON.stringify(fields), client);
    return 'why' in read ? read.why : '';
  };
  assert.equal(why({}), 'refuses a token with status 401');
  assert.equal(
    why({ error: 'invalid_client', error_description: 'Ünknown\nclient.' }),
    'refuses a token with status 401 (invalid_client: ?nknown?client)',
  );
  const { Authorization = '' } = tokenRequest(client).headers;
  const echoed = why({ error: Authorization, error_description: 'hunter2:% hunter2%3A%25' });
  assert.equal(echoed, 'refuses a token with status 401 (Basic ********: ******** ********)');
  assert.ok(why({ error: 'x'.repeat(10_000) }).length < 300);
});
