/** A page of a list of the history. */
import { readPage, type History, type ListPosition } from '@tailrace/history';
import type { Page } from '../http/page.ts';

interface Cursors {
  encode(position: ListPosition): string;
  decode(cursor: string | undefined): ListPosition | undefined;
}

/**
 * @param read as that of `readPage`
 * @throws TailraceError `history-unavailable`; `invalid-request` for a cursor of another list
 */
export async function historyPage<Row>(
  history: Pick<History, 'read'>,
  cursors: Cursors,
  { limit = 50, cursor }: { readonly limit?: number; readonly cursor?: string },
  read: Parameters<typeof readPage<Row>>[3],
): Promise<Page<Row>> {
  const { rows, next } = await readPage(history, limit, cursors.decode(cursor), read);
  return { items: rows, ...(next && { next: cursors.encode(next) }) };
}
