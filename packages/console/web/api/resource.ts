/** Data of the API for a page: loaded when its key changes, kept while it is loaded again, and loaded again on a signal. */
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  ApiError,
  generation,
  get,
  signedOut,
  type AnswerOf,
  type ParamsOf,
  type Readable,
} from './client.ts';

export interface Resource<Data> {
  /** Undefined until the first answer for this key; the previous answer while it is loaded again. */
  readonly data: Data | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  /** Resolves when the new content is shown, or the error. */
  readonly reload: () => Promise<void>;
  /** Shows content that an action has just got, without a request. */
  readonly set: (data: Data) => void;
}

/** A server that asks for a longer pause is asked again by the reader. */
const longestPauseMs = 120_000;

interface State<Data> {
  readonly key: string | null;
  readonly data?: Data | undefined;
  readonly error?: ApiError | undefined;
  readonly isLoading: boolean;
}

interface ResourceOptions {
  /** Loads again after this time, while the page is visible and waits for no answer. */
  readonly everyMs?: number | undefined;
}

/**
 * @param key what the content depends on; null loads nothing
 * @param load gets a signal that is aborted when the key changes
 */
export function useResource<Data>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<Data>,
  { everyMs }: ResourceOptions = {},
): Resource<Data> {
  const [state, setState] = useState<State<Data>>({ key, isLoading: key !== null });
  const latest = useRef(load);
  latest.current = load;
  /** Of the request that has no answer yet. */
  const aborter = useRef<AbortController | undefined>(undefined);
  const again = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const epoch = generation.value;

  const run = async (): Promise<void> => {
    aborter.current?.abort();
    clearTimeout(again.current);
    again.current = undefined;
    if (key === null) return;
    const own = new AbortController();
    aborter.current = own;
    setState((before) => (before.key === key ? { ...before, isLoading: true } : { key, isLoading: true }));
    try {
      const data = await latest.current(own.signal);
      if (!own.signal.aborted) setState({ key, data, isLoading: false });
    } catch (error) {
      if (own.signal.aborted) return;
      const shown = error instanceof ApiError ? error : new ApiError(0, { message: String(error) });
      setState((before) => ({
        key,
        data: before.key === key ? before.data : undefined,
        error: shown,
        isLoading: false,
      }));
      const { retryAfterMs = Infinity } = shown;
      if (retryAfterMs > longestPauseMs) return;
      again.current = setTimeout(() => void rerun.current(), retryAfterMs);
    } finally {
      if (aborter.current === own) aborter.current = undefined;
    }
  };
  const rerun = useRef(run);
  rerun.current = run;

  useEffect(() => {
    void rerun.current();
    return () => {
      aborter.current?.abort();
      clearTimeout(again.current);
    };
  }, [key, epoch]);

  useEffect(() => {
    if (everyMs === undefined || key === null) return undefined;
    const timer = setInterval(() => {
      // An answer may take longer than this pause.
      const isAsked = aborter.current !== undefined || again.current !== undefined;
      if (!document.hidden && !signedOut.peek() && !isAsked) void rerun.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [key, everyMs]);

  const isOwn = state.key === key;
  return {
    data: isOwn ? state.data : undefined,
    error: isOwn ? state.error : undefined,
    isLoading: isOwn ? state.isLoading : key !== null,
    reload: () => rerun.current(),
    set(data) {
      // An answer that is still on its way may be older.
      aborter.current?.abort();
      aborter.current = undefined;
      setState({ key, data, isLoading: false });
    },
  };
}

/** What the API answers at a path: `useGet('/v1/deletions/{id}', { path: { id } })`. */
export function useGet<Path extends Readable>(
  path: Path,
  params: ParamsOf<Path>,
  options?: ResourceOptions,
): Resource<AnswerOf<Path>> {
  return useResource(JSON.stringify([path, params]), (signal) => get(path, params, signal), options);
}
