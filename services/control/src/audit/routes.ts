/** The route that lists the audit log. */
import { auditSchema, type AuditRecord } from '@tailrace/records';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { Places } from '../access/places.ts';
import type { Exports } from '../exports/export.ts';
import { periodOf, periodParameters } from '../http/moment.ts';
import { closedObject, named } from '../http/schemas.ts';
import { cursorsOf, pageOf, pageParameters } from '../http/page.ts';
import { routesOf, type Api } from '../http/api.ts';
import { mostRead } from '../records/backward.ts';
import { searchDeadline, searchTimeoutMs } from '../records/deadline.ts';
import { readAudit, type AuditKafka } from './read.ts';

const exactly = (what: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 300, description: what }));

const cursors = cursorsOf('audit', 'number');

const filters = {
  action: exactly('an action, such as destination.update'),
  target: exactly('a target, such as destination/crm'),
  actor: exactly('the name of an actor'),
  outcome: Type.Optional(Type.Enum(['done', 'refused'], { description: 'done or refused' })),
  ...periodParameters,
};
const listed = closedObject(filters);
const listedPage = closedObject({ ...filters, ...pageParameters });

const exported = [
  'at',
  'action',
  'target',
  'outcome',
  'code',
  'actor',
  'fingerprint',
  'address',
  'changes',
] as const;

export interface AuditNeeds {
  readonly kafka: AuditKafka;
  /** The topic `audit`. */
  readonly topic: string;
  /** Ends running readings. */
  readonly signal: AbortSignal;
  readonly exports: Exports;
}

export function auditRoutes(app: Api, { kafka, topic, signal, exports }: AuditNeeds): void {
  const route = routesOf(app, 'Audit');
  /** A reading takes up to 17,500 records, so that a few at a time bound memory. */
  const places = new Places('auditReadings');
  const list = async (
    query: Static<typeof listedPage>,
    { caller }: Pick<FastifyRequest, 'caller'>,
    reply: FastifyReply,
  ) => {
    const { limit = 50, cursor, action, target, actor, outcome } = query;
    const [before] = cursors.decode(cursor) ?? [];
    const filter = { action, target, actor, outcome, ...periodOf(query) };
    using _place = places.take(caller);
    const until = searchDeadline(signal, reply);
    const page = await readAudit(kafka, topic, filter, { limit, before, signal: until });
    return {
      items: page.found,
      ...(page.before !== undefined && { next: cursors.encode([page.before]) }),
    };
  };
  route.get('/audit', {
    operationId: 'listAudit',
    summary: 'List the audit log, newest first',
    description:
      'Changes, reads of bodies and refused requests of the last 90 days, over the API and by commands on Kafka. A page may have fewer ' +
      `entries than \`limit\`, or none, and a \`next\`: a request reads up to ${mostRead.toLocaleString('en')} records, for up to ${searchTimeoutMs / 1_000} seconds.`,
    querystring: listedPage,
    response: { 200: pageOf(named('AuditEntry', auditSchema)) },
    handler: (request, reply) => list(request.query, request, reply),
  });

  exports.add(route, '/audit.csv', {
    operationId: 'exportAudit',
    summary: 'Export the audit log, newest first',
    querystring: listed,
    columns: exported,
    read: async (query, request, reply) => {
      const { items, ...rest } = await list(query, request, reply);
      return { ...rest, items: items.map(rowOf) };
    },
  });
}

function rowOf({ actor, changes, ...entry }: AuditRecord) {
  const { name, fingerprint } = actor;
  return { ...entry, actor: name, fingerprint, changes: changes.length > 0 ? JSON.stringify(changes) : '' };
}
