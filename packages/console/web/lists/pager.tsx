/** A list of the API that is read page by page. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, generation, get, type AnswerOf, type ParamsOf, type Readable } from '../api/client.ts';
import { refreshed } from './newer.ts';

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next?: string | undefined;
  /** The time until which a search has come. */
  readonly searchedSince?: string | undefined;
}

export interface Pages<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  /** Whether the first page is still missing. */
  readonly isFirst: boolean;
  readonly error: ApiError | undefined;
  readonly searchedSince: string | undefined;
  /** After `refresh`, see `Refreshed`. */
  readonly newer: number;
  readonly isMoved: boolean;
  readonly more: () => Promise<void>;
  readonly reload: () => Promise<void>;
  /** Asks for the first page again. What is shown stays in its place. A failure leaves the list as it is. */
  readonly refresh: (keyOf: (item: Item) => string) => Promise<void>;
}

/** Memory of a page that stays open: more items are not kept. */
const maxItems = 100_000;
/** The API may answer a page without items and with a cursor, where a search takes longer. */
const maxEmptyPages = 20;

interface State<Item> extends Page<Item> {
  readonly key: string;
  readonly isLoading: boolean;
  readonly isFirst: boolean;
  readonly error?: ApiError | undefined;
  readonly newer?: number;
  readonly isMoved?: boolean;
}

/** @param key what the list depends on: with another key it begins again */
export function usePages<Item>(
  key: string,
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Item>>,
): Pages<Item> {
  const [state, setState] = useState<State<Item>>({ key, items: [], isLoading: true, isFirst: true });
  const current = useRef(state);
  const latest = useRef(load);
  latest.current = load;
  const aborter = useRef<AbortController | undefined>(undefined);
  const isRefreshing = useRef(false);
  const show = (next: State<Item>): void => {
    current.current = next;
    setState(next);
  };

  const run = async (cursor: string | undefined): Promise<void> => {
    aborter.current?.abort();
    const own = new AbortController();
    aborter.current = own;
    const before = cursor === undefined ? [] : current.current.items;
    const { items, isFirst } = current.current.key === key ? current.current : { items: [], isFirst: true };
    show({ key, items, next: cursor, isLoading: true, isFirst });
    // Of pages without items, the reader sees how far they are.
    const showProgress = ({ searchedSince }: Page<Item>): void => {
      if (!own.signal.aborted) show({ ...current.current, searchedSince });
    };
    try {
      let page = await latest.current(cursor, own.signal);
      for (
        let empty = 0;
        page.items.length === 0 && page.next !== undefined && empty < maxEmptyPages;
        empty += 1
      ) {
        showProgress(page);
        page = await latest.current(page.next, own.signal);
      }
      if (own.signal.aborted) return;
      show({
        key,
        items: [...before, ...page.items].slice(0, maxItems),
        next: page.next,
        searchedSince: page.searchedSince,
        isLoading: false,
        isFirst: false,
      });
    } catch (error) {
      if (own.signal.aborted) return;
      const shown = error instanceof ApiError ? error : new ApiError(0, { message: String(error) });
      show({ ...current.current, isLoading: false, error: shown });
    }
  };

  const refresh = async (keyOf: (item: Item) => string): Promise<void> => {
    const { isLoading, isFirst, error } = current.current;
    if (current.current.key !== key || isLoading || isFirst || error || isRefreshing.current) return;
    const own = new AbortController();
    aborter.current = own;
    isRefreshing.current = true;
    const page = await latest.current(undefined, own.signal).catch(() => undefined);
    isRefreshing.current = false;
    if (own.signal.aborted || !page) return;
    const first = { first: page.items, isWhole: page.next === undefined };
    show({ ...current.current, ...refreshed(current.current.items, first, keyOf) });
  };

  const epoch = generation.value;
  useEffect(() => {
    void run(undefined);
    return () => aborter.current?.abort();
  }, [key, epoch]);

  const isOwn = state.key === key;
  return {
    items: isOwn ? state.items : [],
    hasMore: isOwn && state.next !== undefined && state.items.length < maxItems,
    isLoading: !isOwn || state.isLoading,
    isFirst: !isOwn || state.isFirst,
    error: isOwn ? state.error : undefined,
    searchedSince: isOwn ? state.searchedSince : undefined,
    newer: isOwn ? (state.newer ?? 0) : 0,
    isMoved: isOwn && state.isMoved === true,
    refresh,
    async more() {
      if (current.current.isLoading || current.current.next === undefined) return;
      await run(current.current.next);
    },
    reload: () => run(undefined),
  };
}

/** A list of the API at a path: `useList('/v1/tokens', {})`. */
export function useList<Path extends Readable>(path: Path, params: ParamsOf<Path>) {
  type Item = AnswerOf<Path> extends { readonly items: readonly (infer Each)[] } ? Each : never;
  return usePages<Item>(JSON.stringify([path, params]), async (cursor, signal) => {
    const query = { limit: 100, ...params.query, cursor };
    const page: unknown = await get(path, { ...params, query }, signal);
    return page as Page<Item>;
  });
}
