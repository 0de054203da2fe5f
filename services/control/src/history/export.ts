/** Lists of the history as CSV. Rows are read when the client takes them, a page at a time, so that an export has no size in memory. */
import { Readable } from 'node:stream';
import { TailraceError } from '@tailrace/errors';
import type { FastifyReply } from 'fastify';
import type { Caller } from '../access/authenticate.ts';
import { Places } from '../access/places.ts';
import { csvLine } from '../http/csv.ts';
import type { Page } from '../http/page.ts';

export const maxExportRows = 100_000;
const pageRows = 500;

/** What the routes of all exports have. */
export const csvRoute = {
  description:
    `The newest ${maxExportRows.toLocaleString('en')} that match, as CSV in UTF-8; \`until\` leads to older ones. Texts that a spreadsheet would ` +
    'read as a formula begin with an apostrophe.',
  response: {
    200: {
      description: 'a header, and a line for each item',
      content: { 'text/csv': { schema: { type: 'string' } } },
    },
  },
  exposeHeadRoute: false,
};

interface Export<Item> {
  /** Of the file. */
  readonly name: string;
  readonly columns: readonly (keyof Item & string)[];
  readonly read: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Item>>;
}

export class Exports {
  readonly #places = new Places('exports');

  /**
   * Answers with a file.
   *
   * @throws TailraceError `too-many-at-once`, and as `read` for the first page
   */
  async send<Item extends object>(
    reply: FastifyReply,
    caller: Caller | undefined,
    { name, columns, read }: Export<Item>,
  ): Promise<FastifyReply> {
    using started = new DisposableStack();
    started.use(this.#places.take(caller));
    const first = await read({ limit: pageRows });
    const lines = Readable.from(linesOf({ name, columns, read }, first, caller));
    const held = started.move();
    lines.once('close', () => held.dispose());
    return await reply
      .header('content-type', 'text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${name}.csv"`)
      .send(lines);
  }
}

async function* linesOf<Item extends object>(
  { columns, read }: Export<Item>,
  first: Page<Item>,
  caller: Caller | undefined,
): AsyncGenerator<string> {
  yield csvLine(columns);
  let left = maxExportRows;
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
