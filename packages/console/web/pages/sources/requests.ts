import { api, askWhole, type Schema } from '../../api/client.ts';
import type { Requests } from '../../versions/change.ts';

export type Source = Schema['Source'];

export const requests: Requests<Source> = {
  load: (id, signal) => askWhole(api.GET('/v1/sources/{id}', { signal, params: { path: { id } } })),
  patch: (id, etag, body) =>
    askWhole(api.PATCH('/v1/sources/{id}', { params: { path: { id }, header: { 'if-match': etag } }, body })),
};
