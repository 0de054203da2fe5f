/** Every route has an entry in the table of access, and nothing is permitted beyond it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openApi, readToken, type Api, type ApiRequest } from '../testing/api.ts';
import { access } from './table.ts';

/** Every token may sign in and out. */
const ownSession = ['createSession', 'deleteSession'];

interface Route {
  readonly method: NonNullable<ApiRequest['method']>;
  readonly path: string;
  readonly operationId: string;
}

let control: Api;
let routes: Route[];
before(async () => {
  control = await openApi();
  const { json } = await control.ask({ path: '/openapi.json', token: null });
  const paths = json['paths'] as Record<string, Record<string, { operationId: string }>>;
  routes = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({
        method: method.toUpperCase() as Route['method'],
        operationId,
        path: path.replaceAll(/\{[^}]*\}/g, 'nothing'),
      })),
    );
});
after(() => control[Symbol.asyncDispose]());

test('every route has an entry, and every entry a route', () => {
  assert.deepEqual(routes.map(({ operationId }) => operationId).sort(), Object.keys(access).sort());
});

test('a read token gets 403 from every route that needs more, and no token gets 401 from all', async () => {
  for (const { method, path, operationId } of routes) {
    const status = async (token: string | null): Promise<number> =>
      (await control.ask({ method, path, token })).status;
    assert.equal(await status(null), 401, operationId);
    if (access[operationId]?.scope !== 'read') assert.equal(await status(readToken), 403, operationId);
    else if (!ownSession.includes(operationId))
      assert.equal(method, 'GET', `${operationId} changes something`);
  }
});
