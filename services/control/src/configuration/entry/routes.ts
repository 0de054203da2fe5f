/** The routes that create, read, replace and update the entries of one kind. */
import { randomBytes } from 'node:crypto';
import type { ErrorCode } from '@tailrace/errors';
import type { TSchema } from 'typebox';
import { routesOf, type Api } from '../../http/api.ts';
import { etagHeader, ifMatch } from '../../http/schemas.ts';
import type { entriesOf } from './change.ts';

interface EntryRoutes {
  readonly tag: string;
  readonly kind: 'source' | 'destination' | 'notification';
  readonly entries: Pick<ReturnType<typeof entriesOf>, 'create' | 'get' | 'replace' | 'update'>;
  readonly bodies: Readonly<Record<'created' | 'replacement' | 'patch', TSchema>>;
  /** The schema of an entry in answers. */
  readonly shown: object;
  /** Of all that write. */
  readonly errors: readonly ErrorCode[];
  /** Of ids that are generated. */
  readonly idPrefix: string;
  /** For other fields that a new entry lacks. */
  readonly defaults?: () => object;
  /** Beside the summaries. */
  readonly about: Partial<Readonly<Record<'create' | 'get' | 'replace' | 'update', string>>>;
}

/** Returns what adds further routes of the kind. */
export function entryRoutes(app: Api, of: EntryRoutes) {
  const { tag, kind, entries, bodies, shown, errors, idPrefix, defaults = () => ({}), about } = of;
  const route = routesOf(app, tag);
  const operation = (verb: keyof typeof about, summary: string) => ({
    operationId: `${verb}${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
    summary,
    ...(about[verb] !== undefined && { description: about[verb] }),
  });
  const response = { 200: { ...shown, headers: etagHeader } };
  const change = { headers: ifMatch, response, errors: [...errors, 'precondition-failed'] as const };

  route.post(`/${kind}s`, {
    ...operation('create', `Create a ${kind}`),
    body: bodies.created,
    response: { 201: { ...shown, headers: { ...etagHeader, Location: { type: 'string' } } } },
    errors: [...new Set([...errors, 'conflict' as const])],
    handler: (request, reply) =>
      entries.create(request, reply, { id: `${idPrefix}_${randomBytes(5).toString('hex')}`, ...defaults() }),
  });

  route.get(`/${kind}s/:id`, {
    ...operation('get', `Get a ${kind}`),
    response,
    handler: (request, reply) => entries.get(request, reply),
  });

  route.put(`/${kind}s/:id`, {
    ...operation('replace', `Replace a ${kind}`),
    ...change,
    body: bodies.replacement,
    handler: (request, reply) => entries.replace(request, reply),
  });

  route.patch(`/${kind}s/:id`, {
    ...operation('update', `Change fields of a ${kind} (JSON Merge Patch, RFC 7396)`),
    ...change,
    body: bodies.patch,
    handler: (request, reply) => entries.update(request, reply),
  });
  return route;
}
