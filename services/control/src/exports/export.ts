/** Lists as CSV. Rows are read when the client takes them, a page at a time, so that an export has no size in memory. */
import { Readable } from 'node:stream';
import { TailraceError } from '@tailrace/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Caller } from '../access/authenticate.ts';
import { Places } from '../access/places.ts';
import type { routesOf } from '../http/api.ts';
import { csvLine } from '../http/csv.ts';
import type { Page } from '../http/page.ts';

export const maxExportRows = 100_000;
const pageRows = 500;

/** What the routes of all exports have. */
export const csvRoute = {
  response: {
    200: {
      description: 'a header, and a line for each item',
      content: { 'text/csv': { schema: { type: 'string' } } },
    },
  },
  exposeHeadRoute: false,
};
export const csvText =
  'CSV in UTF-8. Texts that a spreadsheet would read as a formula begin with an apostrophe.';

interface Rows<Item> {
  readonly columns: readonly (keyof Item & string)[];
  readonly read: (page: {
    readonly limit: number;
    readonly cursor?: string;
  }) => Page<Item> | Promise<Page<Item>>;
  readonly maxRows?: number;
}

interface File<Item> extends Rows<Item> {
  readonly name: string;
  /** Disposed of when the file is read, or the client has left. */
  readonly room?: Disposable;
}

interface ExportOf<Query extends TSchema, Item> extends Pick<Rows<Item>, 'columns'> {
  readonly operationId: string;
  readonly summary: string;
  readonly querystring: Query;
  /** One page; a list in memory may be a single one. */
  readonly read: (
    query: Static<Query> & { readonly limit: number; readonly cursor?: string },
    request: FastifyRequest,
    reply: FastifyReply,
  ) => Page<Item> | Promise<Page<Item>>;
}

export class Exports {
  readonly #places = new Places('exports');

  /** Adds the route of a list as a file, beside that of its pages. */
  add<Query extends TSchema, Item extends object>(
    { get }: Pick<ReturnType<typeof routesOf>, 'get'>,
    path: `/${string}.csv`,
    { columns, read, ...operation }: ExportOf<Query, Item>,
  ): void {
    get(path, {
      ...operation,
      ...csvRoute,
      description: `Up to ${maxExportRows.toLocaleString('en')} items in the order of the list; a narrower filter has others. ${csvText}`,
      handler: (request, reply) =>
        this.send(reply, request.caller, {
          name: path.slice(1, -'.csv'.length),
          columns,
          read: (page) => read({ ...(request.query as Static<Query>), ...page }, request, reply),
        }),
    });
  }

  /**
   * Answers with a file.
   *
   * @throws TailraceError `too-many-at-once`, and as `read` for the first page
   */
  async send<Item extends object>(
    reply: FastifyReply,
    caller: Caller | undefined,
    { name, room, ...rows }: File<Item>,
  ): Promise<FastifyReply> {
    using started = new DisposableStack();
    if (room) started.use(room);
    started.use(this.#places.take(caller));
    const first = await rows.read({ limit: pageRows });
    const lines = Readable.from(linesOf(rows, first, caller));
    const held = started.move();
    lines.once('close', () => held.dispose());
    return await reply
      .header('content-type', 'text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${name}.csv"`)
      .send(lines);
  }
}

async function* linesOf<Item extends object>(
  { columns, read, maxRows = maxExportRows }: Rows<Item>,
  first: Page<Item>,
  caller: Caller | undefined,
): AsyncGenerator<string> {
  yield csvLine(columns);
  let left = maxRows;
  for (let page = first; ;) {
    const items = page.items.slice(0, left);
    // A page may be empty where the filter matches rarely.
    if (items.length > 0) yield items.map((item) => csvLine(columns.map((column) => item[column]))).join('');
    left -= items.length;
    if (page.next === undefined || left === 0) return;
    // The token or the session may end meanwhile.
    if (caller?.isValid() === false) throw new TailraceError('unauthorized');
    page = await read({ limit: pageRows, cursor: page.next });
  }
}
