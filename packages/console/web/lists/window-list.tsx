/**
 * A list of which only the visible rows are in the page, so that 100,000 of them scroll like ten. Rows are links of one height. Arrow keys
 * move the marked row, Enter opens it. Where rows can be chosen, Space or their box chooses one, Shift a range, Ctrl-A all, Escape none.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Selection } from './selection.ts';

export interface WindowListProps<Item> {
  readonly items: readonly Item[];
  readonly label: string;
  readonly keyOf: (item: Item) => string;
  readonly row: (item: Item) => ComponentChildren;
  readonly hrefOf: (item: Item) => string;
  /** Called when the end comes into sight. */
  readonly onEnd: () => void;
  readonly selection?: Selection<Item> | undefined;
}

const beyond = 8;
/** On a phone, a row has three lines. */
const narrow = matchMedia('(width < 760px)');

function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const follow = (): void => {
      setNarrow(narrow.matches);
    };
    narrow.addEventListener('change', follow);
    return () => {
      narrow.removeEventListener('change', follow);
    };
  }, []);
  return isNarrow ? 72 : 44;
}

export function WindowList<Item>(props: WindowListProps<Item>) {
  const { items, label, keyOf, row, hrefOf, onEnd, selection } = props;
  const id = useId();
  const rowHeight = useRowHeight();
  const element = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [visible, setVisible] = useState(800);
  const [marked, setMarked] = useState(0);
  useEffect(() => {
    const list = element.current;
    if (!list) return undefined;
    const observer = new ResizeObserver(() => setVisible(list.clientHeight));
    observer.observe(list);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(top / rowHeight) - beyond);
  const last = Math.min(items.length, Math.ceil((top + visible) / rowHeight) + beyond);
  useEffect(() => {
    if (last >= items.length) onEnd();
  }, [last, items.length]);

  const [newest] = items;
  const firstKey = newest && keyOf(newest);
  useEffect(() => {
    // Another list, or new items that were asked for.
    element.current?.scrollTo(0, 0);
    setMarked(0);
  }, [firstKey]);

  const mark = (index: number): void => {
    const next = Math.max(0, Math.min(items.length - 1, index));
    setMarked(next);
    const list = element.current;
    if (!list) return;
    if (next * rowHeight < list.scrollTop) list.scrollTop = next * rowHeight;
    const bottom = (next + 1) * rowHeight;
    if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
  };
  const page = Math.max(1, Math.floor(visible / rowHeight) - 1);
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: -items.length,
    End: items.length,
  };
  const keyed = items[marked];
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (step !== undefined) {
      const next = Math.max(0, Math.min(items.length - 1, marked + step));
      if (event.shiftKey) selection?.extend(marked, next);
      mark(next);
    } else if (event.key === 'Enter' && keyed) window.location.hash = hrefOf(keyed);
    else if (!selection) return;
    else if (event.key === ' ') selection.toggle(marked, event.shiftKey);
    else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) selection.all();
    else if (event.key === 'Escape') selection.clear();
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={element}
      class="list-window"
      style={{ height: `min(70vh, ${items.length * rowHeight}px)` }}
      role="listbox"
      aria-label={label}
      aria-activedescendant={keyed && `${id}-${marked}`}
      aria-multiselectable={selection !== undefined}
      tabIndex={0}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <div style={{ height: `${items.length * rowHeight}px`, position: 'relative' }}>
        {items.slice(first, last).map((item, offset) => {
          const index = first + offset;
          const isChosen = selection?.has(keyOf(item));
          return (
            <a
              key={keyOf(item)}
              id={`${id}-${index}`}
              href={hrefOf(item)}
              tabIndex={-1}
              role="option"
              aria-selected={isChosen ?? index === marked}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              class={index === marked ? 'list-row marked' : 'list-row'}
              style={{ position: 'absolute', top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
              onClick={(event) => {
                setMarked(index);
                if (!selection || !event.shiftKey) return;
                event.preventDefault();
                selection.toggle(index, true);
              }}
            >
              {selection && (
                <span
                  class="row-box"
                  aria-hidden="true"
                  onClick={(event) => {
                    event.stopPropagation();
                    event.preventDefault();
                    setMarked(index);
                    selection.toggle(index, event.shiftKey);
                  }}
                />
              )}
              {row(item)}
            </a>
          );
        })}
      </div>
    </div>
  );
}
