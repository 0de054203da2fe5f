/** A list that is read page by page while it is scrolled, with its loading, empty and error states. */
import type { ComponentChildren } from 'preact';
import { Card } from '../parts/card.tsx';
import { formatCount } from '../parts/format.ts';
import { ErrorNote } from '../parts/notes.tsx';
import type { Pages } from './pager.tsx';
import { News } from './news.tsx';
import { WindowList, type WindowListProps } from './window-list.tsx';

interface LongListProps<Item> extends Omit<WindowListProps<Item>, 'items' | 'onEnd'> {
  readonly pages: Pages<Item>;
  readonly empty: ComponentChildren;
  /** Above the columns of the rows. */
  readonly head: ComponentChildren;
  /** What the items are: one, and several. */
  readonly what: readonly [one: string, several: string];
}

export function LongList<Item>({ pages, empty, head, what, ...list }: LongListProps<Item>) {
  const { items, isFirst, isLoading, error, hasMore } = pages;
  return (
    <>
      <ErrorNote error={error} onRetry={pages.reload} />
      <News pages={pages} keyOf={list.keyOf} what={what} />
      {(!error || items.length > 0) && (
        <Card flush>
          {items.length > 0 ? (
            <>
              <div class={list.selection ? 'list-head chosen' : 'list-head'} aria-hidden="true">
                {head}
              </div>
              <WindowList {...list} items={items} onEnd={() => void pages.more()} />
              <p class="list-foot quiet small" role="status">
                {formatCount(items.length)}
                {hasMore && '+'} {items.length === 1 ? what[0] : what[1]}
                {isLoading && ' · Loading …'}
              </p>
            </>
          ) : isFirst ? (
            <div class="skeleton list-skeleton" aria-busy="true" />
          ) : (
            empty
          )}
        </Card>
      )}
    </>
  );
}
