/** The routes of sources: list, create, read, replace, update, delete. */
import type { ConfigEditor, Destination } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import Type from 'typebox';
import type { Caller } from '../../access/authenticate.ts';
import { reachesDestination, reachesSource } from '../../access/limits.ts';
import { closedObject, documentOnly, etagHeader, ifMatch } from '../../http/schemas.ts';
import { pageInOrder, pageOf, pageParameters } from '../../http/page.ts';
import type { Api } from '../../http/api.ts';
import { matchesSearch, searchParameter } from '../entry/search.ts';
import { shownSourceSchema, sourceBodies } from '../entry/bodies.ts';
import { entryRoutes } from '../entry/routes.ts';
import { newWriteKey, showSource, sourceEntries, withBuiltIn } from './source.ts';

const writeKeyRule = 'A new write key has at least 6 characters.';
const source = documentOnly(shownSourceSchema, 'a source');
export const sourceAnswer = { 200: { ...source, headers: etagHeader } };

const deleteSourceQuery = closedObject({
  force: Type.Optional(Type.Boolean({ default: false, description: 'true or false' })),
});

export function sourceRoutes(app: Api, config: ConfigEditor): void {
  const entries = sourceEntries(config);
  const isMasked = 'Write keys are masked for a read-only token.';
  const route = entryRoutes(app, {
    tag: 'Sources',
    kind: 'source',
    entries,
    bodies: sourceBodies,
    shown: source,
    errors: ['invalid-configuration', 'conflict'],
    idPrefix: 'src',
    defaults: () => ({ writeKeys: [newWriteKey()] }),
    about: {
      create: `A missing id is generated, and so is a missing write key. ${writeKeyRule}`,
      get: isMasked,
      replace: writeKeyRule,
      update: writeKeyRule,
    },
  });

  route.get('/sources', {
    operationId: 'listSources',
    summary: 'List the sources by id',
    description: isMasked,
    querystring: closedObject({ ...pageParameters, ...searchParameter }),
    response: { 200: pageOf(source) },
    handler: ({ query, role, caller }) => {
      const isFound = matchesSearch(query.search);
      const found = withBuiltIn(config).filter((one) => reachesSource(caller, one.id) && isFound(one));
      const { items, ...rest } = pageInOrder('sources', found, query, ({ id }) => id);
      return { items: items.map((one) => showSource(one, role)), ...rest };
    },
  });

  route.delete('/sources/:id', {
    operationId: 'deleteSource',
    summary: 'Delete a source',
    description: 'Without `force`, a source with connected destinations is not deleted.',
    headers: ifMatch,
    querystring: deleteSourceQuery,
    response: { 204: { type: 'null', description: 'deleted' } },
    errors: ['conflict', 'precondition-failed'],
    handler: (request, reply) =>
      entries.remove(request, reply, (current) => {
        const { id } = request.params;
        const connected = current.destinations().filter(({ sources }) => sources.includes(id));
        if (connected.length > 0 && !request.query.force) {
          throw new TailraceError(
            'conflict',
            `Destinations are connected to the source: ${namesOf(connected, request.caller)}. Disconnect them, or delete the source with ?force=true.`,
          );
        }
        return connected.map((destination) => ({
          kind: 'destination',
          id: destination.id,
          entry: { ...destination, sources: destination.sources.filter((sourceId) => sourceId !== id) },
        }));
      }),
  });
}

/** `"crm", "erp" and 2 that the token does not reach`. */
function namesOf(destinations: readonly Destination[], caller: Caller | undefined): string {
  const reached = destinations.filter(({ id }) => reachesDestination(caller, id));
  const ids = reached.map(({ id }) => JSON.stringify(id)).join(', ');
  const others = destinations.length - reached.length;
  return [ids, others === 0 ? '' : `${others} that the token does not reach`].filter(Boolean).join(' and ');
}
