/** A table that scrolls sideways by itself where the page is narrow, with its loading, empty and error states. */
import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/client.ts';
import { Button } from './button.tsx';
import { Card } from './card.tsx';
import { ErrorNote } from './notes.tsx';
import type { Pages } from '../lists/pager.tsx';

export interface Column<Item> {
  readonly title: string;
  readonly cell: (item: Item) => ComponentChildren;
  /** `wrap` is a text, of which a phone shows two lines. `main` is what one reads first, and as wide as a phone. */
  readonly kind?: 'number' | 'wrap' | 'main';
}

interface TableProps<Item> {
  readonly label: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[] | undefined;
  readonly keyOf: (item: Item) => string;
  readonly empty: ComponentChildren;
  readonly error?: ApiError | undefined;
  readonly onRetry?: () => unknown;
}

/** Of a column `main`: what one reads first, and below it the state and the actions, which so stay in sight on a phone. */
export function MainCell({
  children,
  below,
}: {
  readonly children: ComponentChildren;
  readonly below: ComponentChildren;
}) {
  return (
    <div class="stack tight">
      <span>{children}</span>
      <span class="row">{below}</span>
    </div>
  );
}

const placeholders = [0, 1, 2, 3, 4];

export function Table<Item>({ label, columns, items, keyOf, empty, error, onRetry }: TableProps<Item>) {
  if (error && (items === undefined || items.length === 0))
    return <ErrorNote error={error} onRetry={onRetry} />;
  if (items?.length === 0) return <>{empty}</>;
  return (
    <div class="scroll" role="group" aria-label={label} tabIndex={0} aria-busy={items === undefined}>
      <table class="table">
        <thead>
          <tr>
            {columns.map(({ title, kind }) => (
              <th key={title} scope="col" class={kind}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items === undefined
            ? placeholders.map((row) => (
                <tr key={row}>
                  {columns.map(({ title }) => (
                    <td key={title}>
                      <div class="skeleton" />
                    </td>
                  ))}
                </tr>
              ))
            : items.map((item) => (
                <tr key={keyOf(item)}>
                  {columns.map(({ title, cell, kind }) => (
                    <td key={title} class={kind}>
                      {kind === 'wrap' ? <div class="lines">{cell(item)}</div> : cell(item)}
                    </td>
                  ))}
                </tr>
              ))}
        </tbody>
      </table>
    </div>
  );
}

/** A card with the table of a list that is read page by page. */
export function PagedTable<Item>({
  pages,
  ...rest
}: Omit<TableProps<Item>, 'items' | 'error' | 'onRetry'> & { readonly pages: Pages<Item> }) {
  const { items, isFirst, hasMore, error } = pages;
  return (
    <Card flush>
      <Table {...rest} items={isFirst && !error ? undefined : items} error={error} onRetry={pages.reload} />
      {hasMore && !isFirst && (
        <div class="row more">
          <Button small onClick={pages.more}>
            Show more
          </Button>
        </div>
      )}
    </Card>
  );
}
