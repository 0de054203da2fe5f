import { requestsOf } from '../../versions/requests.ts';

export const requests = requestsOf('/v1/destinations/{id}');
