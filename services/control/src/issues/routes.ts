/** The routes of issues: what fails, by destination and reason, and what people have said about it. */
import type { ConfigView } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { formatInstant } from '@tailrace/events';
import type { History, IssueRow } from '@tailrace/history';
import Type, { type Static } from 'typebox';
import type { Caller } from '../access/authenticate.ts';
import { isLimited, reachesAllDeliveries } from '../access/limits.ts';
import { loadDestination } from '../configuration/destinations/destination.ts';
import { routesOf, type Api } from '../http/api.ts';
import { audit } from '../http/audit.ts';
import { maxExportRows, type Exports } from '../exports/export.ts';
import { newestFirst, pageInOrder, pageOf, pageParameters } from '../http/page.ts';
import { closedObject, namedObject, optionalText, time } from '../http/schemas.ts';
import { issueState, issueStates, type IssueMark, type IssueState } from './issue.ts';
import type { IssueMarks } from './marks.ts';

/** The routes that show the topic of the marks. */
export const issuePaths = /^\/v1\/(issues|destinations\/:id\/issues)/;

const stateSchema = Type.Enum([...issueStates], { description: `one of ${issueStates.join(', ')}` });
const noteSchema = Type.Optional(
  Type.String({ minLength: 1, maxLength: 500, description: 'a text of 1 to 500 characters' }),
);
const issueSchema = namedObject('Issue', {
  destinationId: Type.String(),
  reason: Type.String(),
  state: stateSchema,
  attempts: Type.Integer({ description: 'attempts that failed' }),
  dead: Type.Integer({ description: 'deliveries that are dead' }),
  firstAt: time('the first of the failures that the history knows'),
  lastAt: time(),
  deliveryId: optionalText('the latest delivery that failed so'),
  mark: Type.Optional(
    namedObject('IssueMark', {
      state: Type.Enum(['acknowledged', 'dismissed']),
      note: Type.Optional(Type.String()),
      at: time(),
      by: optionalText('the name of the token; not for a limited token'),
    }),
  ),
});

const wantedSchema = Type.Object(
  { state: stateSchema, note: noteSchema },
  { additionalProperties: false, description: 'an object with state' },
);

const exported = [
  'destinationId',
  'reason',
  'state',
  'attempts',
  'dead',
  'firstAt',
  'lastAt',
  'deliveryId',
  'note',
  'markedBy',
  'markedAt',
] as const;

const verbs = { open: 'reopen', acknowledged: 'acknowledge', dismissed: 'dismiss' };

const filters = { destination: optionalText('the id of a destination'), state: Type.Optional(stateSchema) };
const listed = closedObject(filters);
const listedPage = closedObject({ ...pageParameters, ...filters });

export interface IssueNeeds {
  readonly config: ConfigView;
  readonly history: Pick<History, 'read'>;
  readonly marks: Pick<IssueMarks, 'find' | 'put'>;
  readonly exports: Exports;
}

export function issueRoutes(app: Api, { config, history, marks, exports }: IssueNeeds): void {
  const route = routesOf(app, 'Issues', ['history-unavailable']);

  const stateOf = ({ destinationId, reason, lastAt }: IssueRow) =>
    issueState(lastAt, marks.find(destinationId, reason));
  const show = (row: IssueRow, caller: Caller | undefined) => {
    const { firstAt, lastAt, ...counts } = row;
    const deliveryId = history.read((queries) => queries.exampleOf(row));
    const mark = marks.find(row.destinationId, row.reason);
    return {
      ...counts,
      state: stateOf(row),
      firstAt: formatInstant(firstAt),
      lastAt: formatInstant(lastAt),
      ...(deliveryId !== undefined && { deliveryId }),
      ...(mark && { mark: showMark(mark, caller) }),
    };
  };

  const list = (query: Static<typeof listedPage>, caller: Caller | undefined) => {
    const { destination, state } = query;
    const rows = history
      .read((queries) => queries.issues(destination === undefined ? caller?.destinations : [destination]))
      .filter(({ destinationId: id }) => config.destination(id) && reachesAllDeliveries(caller, id))
      .filter((row) => state === undefined || stateOf(row) === state)
      .map((row) => ({ row, key: orderOf(row, stateOf(row)) }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    const { items, ...rest } = pageInOrder('issues', rows, query, ({ key }) => key);
    return { items: items.map(({ row }) => show(row, caller)), ...rest };
  };

  route.get('/issues', {
    operationId: 'listIssues',
    summary: 'List what fails, by destination and reason',
    description:
      'Open issues are first, and of these the one with the latest failure. The failures are those that the history knows; dead letters of ' +
      'deleted users and drained ones are none. A token that is limited to sources sees no issues, because they are about the deliveries ' +
      'of all sources. An issue that fails or changes its state between two pages may be on both or on neither.',
    querystring: listedPage,
    response: { 200: pageOf(issueSchema) },
    handler: ({ query, caller }) => list(query, caller),
  });

  exports.add(route, '/issues.csv', {
    operationId: 'exportIssues',
    summary: 'Export what fails, by destination and reason',
    querystring: listed,
    columns: exported,
    read: (query, { caller }) => {
      const { items } = list({ ...query, limit: maxExportRows }, caller);
      return {
        items: items.map(({ mark, ...item }) => ({
          ...item,
          note: mark?.note,
          markedBy: mark?.by,
          markedAt: mark?.at,
        })),
      };
    },
  });

  route.put('/destinations/:id/issues/:reason', {
    operationId: 'updateIssue',
    summary: 'Acknowledge, dismiss or reopen an issue',
    description:
      'An acknowledged issue stays acknowledged while it fails. A dismissed one reopens when it fails again. The note replaces the one before; ' +
      'reopening an issue removes it.',
    body: wantedSchema,
    response: { 200: issueSchema },
    handler: async (request) => {
      const { params, body, caller } = request;
      const { id, reason } = params;
      const { state, note } = body;
      loadDestination(config, id);
      const row = history.read((queries) => queries.issues([id])).find((one) => one.reason === reason);
      if (!row) {
        throw new TailraceError(
          'not-found',
          `The history has no failures of ${id} with the reason ${JSON.stringify(reason.slice(0, 64))}.`,
        );
      }
      audit(request, `issue.${verbs[state]}`, `issue/${id}/${reason}`);
      const at = formatInstant(Date.now());
      const lastFailureAt = formatInstant(row.lastAt);
      const by = caller?.name ?? '';
      await marks.put(id, reason, state === 'open' ? undefined : { state, note, at, by, lastFailureAt });
      return show(row, caller);
    },
  });
}

function orderOf({ destinationId, reason, lastAt }: IssueRow, state: IssueState): string {
  return `${issueStates.indexOf(state)} ${newestFirst(lastAt, `${destinationId} ${reason}`)}`;
}

function showMark({ state, note, at, by }: IssueMark, caller: Caller | undefined) {
  return { state, ...(note !== undefined && { note }), at, ...(!isLimited(caller) && { by }) };
}
