/** The routes of a source's write keys. To rotate a key: add one, move the clients to it, remove the old one. */
import type { ConfigEditor } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import Type from 'typebox';
import { etagHeader, ifMatch } from '../../http/schemas.ts';
import { routesOf, type Api } from '../../http/api.ts';
import { sourceAnswer } from './routes.ts';
import { sourceEntries, newWriteKey, validSource } from './source.ts';

const maxWriteKeys = 20;

export function writeKeyRoutes(app: Api, config: ConfigEditor): void {
  const route = routesOf(app, 'Sources', ['conflict', 'precondition-failed']);
  const { change, changeAndShow } = sourceEntries(config);
  route.post('/sources/:id/write-keys', {
    operationId: 'addWriteKey',
    summary: 'Add a generated write key to a source',
    headers: ifMatch,
    response: { 201: { ...Type.Object({ writeKey: Type.String() }), headers: etagHeader } },
    handler: async (request, reply) => {
      const writeKey = newWriteKey();
      await change(request, reply, 'write-key.add', (stored, current) => {
        if (stored.writeKeys.length >= maxWriteKeys) {
          throw new TailraceError(
            'conflict',
            `The source has ${maxWriteKeys} write keys, the maximum. Remove one first.`,
          );
        }
        return validSource({ ...stored, writeKeys: [...stored.writeKeys, writeKey] }, current);
      });
      reply.status(201);
      return { writeKey };
    },
  });

  route.delete('/sources/:id/write-keys/:key', {
    operationId: 'removeWriteKey',
    summary: 'Remove a write key from a source',
    description: 'Events with the key are refused from then on. The last key cannot be removed.',
    headers: ifMatch,
    response: sourceAnswer,
    handler: (request, reply) =>
      changeAndShow(request, reply, 'write-key.remove', (stored, current) => {
        const { key } = request.params;
        const writeKeys = stored.writeKeys.filter((writeKey) => writeKey !== key);
        if (writeKeys.length === stored.writeKeys.length) {
          throw new TailraceError('not-found', 'The source has no such write key.');
        }
        if (writeKeys.length === 0) {
          throw new TailraceError('conflict', 'This is the last write key of the source. Add another first.');
        }
        return validSource({ ...stored, writeKeys }, current);
      }),
  });
}
