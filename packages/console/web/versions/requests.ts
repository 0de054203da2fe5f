import { api, ask, askWhole, type AnswerOf } from '../api/client.ts';
import type { Requests } from './change.ts';

type EntryPath = '/v1/sources/{id}' | '/v1/destinations/{id}' | '/v1/notifications/{id}';

/** What the API shows in place of a secret. */
export const secretMask = '********';

/** The requests of the entries at a path: `requestsOf('/v1/sources/{id}')`. */
export function requestsOf<Path extends EntryPath>(path: Path): Requests<AnswerOf<Path>> {
  // The client asks for the parameters of one path, and this is any of them.
  type Answer = Parameters<typeof askWhole<AnswerOf<Path>>>[0];
  return {
    load: (id, signal) => askWhole(api.GET(path, { signal, params: { path: { id } } } as never) as Answer),
    create: (entry) => ask(api.POST(path.replace('/{id}', '') as '/v1/sources', { body: entry } as never)),
    remove: (id) => ask(api.DELETE(path, { params: { path: { id } } } as never) as Answer),
    patch: (id, etag, body) =>
      askWhole(
        api.PATCH(path, { params: { path: { id }, header: { 'if-match': etag } }, body } as never) as Answer,
      ),
  };
}
