/** The route that seals stored secrets with the current key. */
import type { ConfigEditor } from '@tailrace/config';
import Type from 'typebox';
import { audit } from '../http/audit.ts';
import { routesOf, type Api } from '../http/api.ts';
import { closedObject } from '../http/schemas.ts';

const resealSecretsQuery = closedObject({
  queries: Type.Optional(
    Type.Boolean({
      description: 'whether the queries of URLs are sealed, from now on; by default as before',
    }),
  ),
});
const resealSecretsAnswers = {
  200: Type.Object({
    destinations: Type.Array(Type.String(), {
      description: 'the ids of the destinations that were written',
    }),
    notifications: Type.Array(Type.String(), {
      description: 'the ids of the notifications that were written',
    }),
  }),
};

export function secretRoutes(app: Api, config: Pick<ConfigEditor, 'change'>): void {
  const route = routesOf(app, 'Secrets');
  route.post('/secrets/reseal', {
    operationId: 'resealSecrets',
    summary: 'Seal all secrets with the current key',
    description:
      'Writes the destinations and notifications again whose secrets are sealed with the previous key, or not sealed. With `queries=true` also ' +
      'those whose URLs have a query in plain text; from then on, every change seals queries, as in an installation that began ' +
      'with this release. Use it when all services run this release: the release before would send the sealed text to ' +
      'receivers. `queries=false` writes them in plain text again.',
    querystring: resealSecretsQuery,
    response: resealSecretsAnswers,
    errors: ['secret-key-missing', 'secret-locked'],
    handler: async (request) => {
      audit(request, 'secrets.reseal', 'destinations');
      const { queries } = request.query;
      const { result } = await config.change((current) => {
        const toChange = queries === true ? 'plain' : 'sealed';
        const isDue = (id: string): boolean =>
          current.isStale('destination', id) ||
          (queries !== undefined && ['mixed', toChange].includes(current.queries(id)));
        const due = current.destinations().filter(({ id }) => isDue(id));
        const writes = due.map((entry) => ({ kind: 'destination' as const, id: entry.id, entry }));
        const others = current
          .notifications()
          .filter(({ id }) => current.isStale('notification', id))
          .map((entry) => ({ kind: 'notification' as const, id: entry.id, entry }));
        const ids = { destinations: due.map(({ id }) => id), notifications: others.map(({ id }) => id) };
        return { writes: [...writes, ...others], result: ids, sealQueries: queries };
      });
      return result;
    },
  });
}
