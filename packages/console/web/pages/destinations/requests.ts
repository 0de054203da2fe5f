import { api, askWhole } from '../../api/client.ts';
import type { Requests } from '../../versions/change.ts';
import type { Destination } from './draft.ts';

export const requests: Requests<Destination> = {
  load: (id, signal) => askWhole(api.GET('/v1/destinations/{id}', { signal, params: { path: { id } } })),
  patch: (id, etag, body) =>
    askWhole(
      api.PATCH('/v1/destinations/{id}', { params: { path: { id }, header: { 'if-match': etag } }, body }),
    ),
};
