/** The route that lists the audit log. */
import Type from 'typebox';
import { Places } from '../access/places.ts';
import { periodOf, periodParameters } from '../http/moment.ts';
import { closedObject, namedObject, optionalText, time } from '../http/schemas.ts';
import { cursorsOf, pageOf, pageParameters } from '../http/page.ts';
import { routesOf, type Api } from '../http/api.ts';
import { readAudit, type AuditKafka } from './read.ts';

const exactly = (what: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 300, description: what }));

const recordSchema = namedObject('AuditEntry', {
  id: Type.String(),
  at: time(),
  action: Type.String({ description: 'for example destination.update' }),
  target: optionalText('for example destination/crm'),
  outcome: Type.Enum(['done', 'refused']),
  code: optionalText('the code of the error of a refused request'),
  actor: Type.Object({
    kind: Type.Enum(['token', 'setting', 'user', 'service', 'unknown'], {
      description:
        'setting: a token of the environment; user: of a command on Kafka; service: control itself',
    }),
    name: Type.String({ description: 'the name of the token or setting, or user@host' }),
    tokenId: Type.Optional(Type.String()),
    fingerprint: optionalText("the first 8 hex digits of the token's SHA-256, also of a wrong token"),
  }),
  address: optionalText('the IP address of the client'),
  changes: Type.Array(
    Type.Object({
      field: Type.String(),
      before: Type.Optional(Type.Unknown()),
      after: Type.Optional(Type.Unknown()),
    }),
    { description: 'the fields that changed, without secrets' },
  ),
  moreChanges: Type.Optional(Type.Integer({ description: 'changes beyond the first 50' })),
  notRecorded: Type.Optional(
    Type.Integer({ description: 'refused requests before this one that were not recorded' }),
  ),
});

const cursors = cursorsOf('audit', 'number');

const listAuditQuery = closedObject({
  action: exactly('an action, such as destination.update'),
  target: exactly('a target, such as destination/crm'),
  actor: exactly('the name of an actor'),
  outcome: Type.Optional(Type.Enum(['done', 'refused'], { description: 'done or refused' })),
  ...periodParameters,
  ...pageParameters,
});

/** @param topic the topic `audit` */
export function auditRoutes(app: Api, kafka: AuditKafka, topic: string): void {
  const route = routesOf(app, 'Audit');
  /** A reading takes up to 17,500 records, so that a few at a time bound memory. */
  const places = new Places('auditReadings');
  route.get('/audit', {
    operationId: 'listAudit',
    summary: 'List the audit log, newest first',
    description:
      'Changes, reads of bodies and refused requests of the last 90 days, over the API and by commands on Kafka. A page may have fewer ' +
      'entries than `limit`, or none, and a `next`: a request reads up to 17,500 records.',
    querystring: listAuditQuery,
    response: { 200: pageOf(recordSchema) },
    handler: async ({ query, caller }) => {
      const { limit = 50, cursor, action, target, actor, outcome } = query;
      const [before] = cursors.decode(cursor) ?? [];
      const filter = { action, target, actor, outcome, ...periodOf(query) };
      using _place = places.take(caller);
      const page = await readAudit(kafka, topic, filter, limit, before);
      return {
        items: page.records,
        ...(page.before !== undefined && { next: cursors.encode([page.before]) }),
      };
    },
  });
}
