/** Keeps a list up to date without moving what one reads: says how many items are new, and shows them when asked. */
import { useEffect, useRef } from 'preact/hooks';
import { signedOut } from '../api/client.ts';
import { Button } from '../parts/button.tsx';
import { formatCounted } from '../parts/format.ts';
import type { Pages } from './pager.tsx';

const everyMs = 5_000;

interface NewsProps<Item> {
  readonly pages: Pages<Item>;
  readonly keyOf: (item: Item) => string;
  /** What the items are: one, and several. */
  readonly what: readonly [one: string, several: string];
}

export function News<Item>({ pages, keyOf, what: [one, several] }: NewsProps<Item>) {
  const refresh = useRef(() => pages.refresh(keyOf));
  refresh.current = () => pages.refresh(keyOf);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && !signedOut.peek()) void refresh.current();
    }, everyMs);
    return () => {
      clearInterval(timer);
    };
  }, []);
  const { newer, isMoved, isFirst } = pages;
  return (
    <div class="news small" role="status">
      {newer > 0 || isMoved ? (
        <Button small onClick={pages.reload}>
          {newer > 0 ? `Show ${formatCounted(newer, `new ${one}`, `new ${several}`)}` : 'Show changes'}
        </Button>
      ) : (
        !isFirst && <span class="quiet">Up to date</span>
      )}
    </div>
  );
}
