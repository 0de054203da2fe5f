/** Client of the HTTP API of the control service. */
import { Readable } from 'node:stream';
import { TailraceError } from '@tailrace/errors';
import { parseJson } from '@tailrace/events';
import { readSettings } from '@tailrace/service';
import type { CommandContext } from '../command.ts';
import { apiSettings } from '../settings.ts';
import { connectionError, isClosed, notControlService, responseError } from './errors.ts';
import { linesOf } from './lines.ts';
import type { Query } from './path.ts';

/** `version` is its ETag. */
interface Versioned {
  readonly entry: unknown;
  readonly version: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Whether there are more items than the limit. */
  readonly more: boolean;
  /** Further fields of the last page that was read. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

interface Upload {
  readonly content: Readable;
  readonly contentType: string;
  readonly query: Query;
}

/** All methods throw TailraceError: `control-unavailable`, or the error code of the response. */
export interface Api {
  get<T>(path: string, query?: Query): Promise<T>;
  /** An entry, and its version for `replace`. */
  getVersion(path: string): Promise<Versioned>;
  /** Replaces an entry where it still has this version. Throws `precondition-failed` otherwise. */
  replace<T>(path: string, entry: unknown, version: string): Promise<T>;
  /** Sends `body` as JSON, if given. Resolves with the response body, or undefined if it is empty. */
  send<T>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    query?: Query,
  ): Promise<T>;
  /** Reads the first `limit` items of a list, page by page. */
  list<T>(path: string, query: Query, limit: number): Promise<Page<T>>;
  /** Sends the stream, without a time limit. */
  upload<T>(method: 'PUT' | 'PATCH', path: string, body: Upload): Promise<T>;
  /**
   * Reads an endless response of JSON lines; blank lines are heartbeats and left out. Ends when the service ends the
   * response or `signal` is aborted, and throws after 45 s of silence. Calls `onOpen` when the response begins.
   */
  follow<T>(path: string, query: Query, signal: AbortSignal, onOpen: () => void): AsyncIterable<T>;
}

/** For commands that need the API alone. */
export interface ApiContext extends CommandContext {
  readonly api: Api;
}

interface PageResponse<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

const responseTimeoutMs = 30_000;
/** Three heartbeats of the service, which it sends every 15 s if there is nothing else. */
const silenceTimeoutMs = 45_000;
const maxPageSize = 200;

/** @throws TailraceError `invalid-settings` */
export function openApi({ env }: Pick<CommandContext, 'env'>): Api {
  const settings = readSettings(env, apiSettings);
  // In the control service, the variable of this name may list several tokens.
  const token = settings.token.split(',')[0]?.trim() ?? '';
  const origin = settings.url.replace(/\/+$/, '');

  const call = async (
    path: string,
    { query = {}, ...init }: RequestInit & { readonly query?: Query; readonly duplex?: 'half' },
  ): Promise<Response> => {
    const url = new URL(`${origin}${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${token}`);
    const send = (): Promise<Response> => fetch(url, { ...init, headers, redirect: 'manual' });
    const response = await send()
      .catch((error: unknown) => {
        // A connection that was kept may be closed by the service in the moment in which it is used again.
        if (init.method === undefined && isClosed(error)) return send();
        throw error;
      })
      .catch((error: unknown) => {
        throw connectionError(origin, error);
      });
    if (response.ok) return response;
    throw responseError(origin, response.status, await response.text().catch(() => ''));
  };

  const request = async <T>(path: string, init: Parameters<typeof call>[1]): Promise<T> =>
    read<T>(await call(path, { signal: AbortSignal.timeout(responseTimeoutMs), ...init }), init);

  const read = async <T>(response: Response, init: Parameters<typeof call>[1]): Promise<T> => {
    let text: string;
    try {
      text = await response.text();
    } catch (error) {
      throw connectionError(origin, error);
    }
    // Requests other than GET may have an empty response.
    if (text === '' && init.method !== undefined) return undefined as T;
    try {
      // Keeps the digits of large numbers in webhook bodies.
      return parseJson(text) as T;
    } catch {
      throw notControlService(origin, response.status);
    }
  };

  return {
    get: (path, query) => request(path, { query: query ?? {} }),
    async getVersion(path) {
      const init = { signal: AbortSignal.timeout(responseTimeoutMs) };
      const response = await call(path, init);
      return { entry: await read<unknown>(response, init), version: response.headers.get('etag') ?? '*' };
    },
    replace: (path, entry, version) =>
      request(path, {
        method: 'PUT',
        body: JSON.stringify(entry),
        headers: { 'content-type': 'application/json', 'if-match': version },
      }),
    send: (method, path, body, query) =>
      request(path, {
        method,
        query: query ?? {},
        ...(body !== undefined && {
          body: JSON.stringify(body),
          headers: {
            'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
          },
        }),
      }),
    list: (path, query, limit) => readPages(limit, (page) => request(path, { query: { ...query, ...page } })),
    upload: (method, path, { content, contentType, query }) =>
      request(path, {
        method,
        query,
        headers: { 'content-type': contentType },
        body: Readable.toWeb(content) as ReadableStream,
        duplex: 'half',
        signal: null,
      }),
    async *follow<T>(path: string, query: Query, signal: AbortSignal, onOpen: () => void) {
      const silence = new AbortController();
      const onSilence = (): void => silence.abort();
      let timer = setTimeout(onSilence, silenceTimeoutMs);
      try {
        const response = await call(path, { query, signal: AbortSignal.any([signal, silence.signal]) });
        onOpen();
        if (!response.body) return;
        for await (const line of linesOf(response.body)) {
          clearTimeout(timer);
          if (line !== '') yield JSON.parse(line) as T;
          // Not while the line is handled.
          timer = setTimeout(onSilence, silenceTimeoutMs);
        }
      } catch (error) {
        if (signal.aborted) return;
        throw error instanceof TailraceError ? error : connectionError(origin, error);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Reads pages until there are `limit` items or no more pages. */
async function readPages<T>(
  limit: number,
  fetchPage: (query: {
    readonly limit: number;
    readonly cursor: string | undefined;
  }) => Promise<PageResponse<T>>,
): Promise<Page<T>> {
  const items: T[] = [];
  let cursor: string | undefined;
  let fields: Page<T>['fields'];
  do {
    const {
      items: found,
      next,
      ...others
    } = await fetchPage({
      limit: Math.min(limit - items.length, maxPageSize),
      cursor,
    });
    items.push(...found);
    [cursor, fields] = [next, others];
  } while (cursor !== undefined && items.length < limit);
  return { items, more: cursor !== undefined, fields };
}
