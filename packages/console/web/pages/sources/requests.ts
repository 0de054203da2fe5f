import type { Schema } from '../../api/client.ts';
import { requestsOf } from '../../versions/requests.ts';

export type Source = Schema['Source'];

export const requests = requestsOf('/v1/sources/{id}');
