/** The route that seals stored secrets with the current key. */
import Type from 'typebox';
import { audit } from '../http/audit.ts';
import type { Routes } from '../http/routes.ts';

export const secretRoutes: Routes = (app, { config }) => {
  app.post(
    '/secrets/reseal',
    {
      config: { errors: ['secret-key-missing', 'secret-locked'] },
      schema: {
        operationId: 'resealSecrets',
        summary: 'Seal all secrets with the current key',
        description:
          'Writes the destinations again whose secrets are sealed with the previous key, or not sealed.',
        tags: ['Secrets'],
        response: {
          200: Type.Object({
            destinations: Type.Array(Type.String(), {
              description: 'the ids of the destinations that were written',
            }),
          }),
        },
      },
    },
    async (request) => {
      audit(request, 'secrets.reseal', 'destinations');
      const { result } = await config.change((current) => {
        const stale = current.destinations().filter(({ id }) => current.isStale('destination', id));
        const writes = stale.map((entry) => ({ kind: 'destination' as const, id: entry.id, entry }));
        return { writes, result: stale.map(({ id }) => id) };
      });
      return { destinations: result };
    },
  );
};
