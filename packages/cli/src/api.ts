/**
 * The control service's HTTP API for the time of one command. Whatever goes wrong is a sentence that says how to
 * fix it: nobody who types a command should have to know what ECONNREFUSED is.
 */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { errorTable, TailraceError, type ErrorCode } from '@tailrace/errors';
import { parseJson } from '@tailrace/events';
import { readSettings } from '@tailrace/service';
import { UsageError, type CommandContext } from './command.ts';
import { apiSettings } from './settings.ts';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Page<T> {
  readonly items: readonly T[];
  /** Whether there is more than was asked for. */
  readonly more: boolean;
}

/** All methods throw TailraceError: `control-unavailable`, or with the code that the service answers. */
export interface Api {
  get<T>(path: string, query?: Query): Promise<T>;
  /** With a body where there is one; the answer, undefined where it is empty. */
  send<T>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    query?: Query,
  ): Promise<T>;
  /** The first `limit` items of a list, page by page. */
  list<T>(path: string, query: Query, limit: number): Promise<Page<T>>;
  /** Sends bytes as they come, however long that takes. */
  upload<T>(path: string, body: Readable, contentType: string, query: Query): Promise<T>;
  /**
   * The lines of an answer that does not end, parsed; blank ones are left out. It ends where the service ends it or
   * `signal` is aborted, and throws where nothing comes for three heartbeats. `onOpen` is called when it begins.
   */
  follow<T>(path: string, query: Query, signal: AbortSignal, onOpen: () => void): AsyncIterable<T>;
}

/** A page as the service answers it. */
interface Listed<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

const answerWithinMs = 30_000;
/** The service sends a blank line every 15 s where it has nothing else. */
const silentForMs = 45_000;
const largestPage = 200;

/** @throws TailraceError `invalid-settings` */
export function openApi({ env }: Pick<CommandContext, 'env'>): Api {
  const settings = readSettings(env, apiSettings);
  // The service takes several, separated by commas, from the variable of this name.
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
    let response: Response;
    try {
      response = await fetch(url, { ...init, headers, redirect: 'manual' });
    } catch (error) {
      throw unreachable(origin, error);
    }
    if (response.ok) return response;
    throw refusal(origin, response.status, await response.text().catch(() => ''));
  };

  const answer = async <T>(path: string, init: Parameters<typeof call>[1]): Promise<T> => {
    const response = await call(path, { signal: AbortSignal.timeout(answerWithinMs), ...init });
    let text: string;
    try {
      text = await response.text();
    } catch (error) {
      throw unreachable(origin, error);
    }
    // What changes something may have nothing to say.
    if (text === '' && init.method !== undefined) return undefined as T;
    try {
      // Bodies of webhooks among it keep their numbers.
      return parseJson(text) as T;
    } catch {
      throw noControlService(origin, response.status);
    }
  };

  return {
    get: (path, query) => answer(path, { query: query ?? {} }),
    send: (method, path, body, query) =>
      answer(path, {
        method,
        query: query ?? {},
        ...(body !== undefined && {
          body: JSON.stringify(body),
          headers: {
            'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
          },
        }),
      }),
    list: (path, query, limit) =>
      untilEnough(limit, (page) => answer(path, { query: { ...query, ...page } })),
    upload: (path, body, contentType, query) =>
      answer(path, {
        method: 'PUT',
        query,
        headers: { 'content-type': contentType },
        body: Readable.toWeb(body) as ReadableStream,
        duplex: 'half',
        signal: null,
      }),
    async *follow<T>(path: string, query: Query, signal: AbortSignal, onOpen: () => void) {
      const silence = new AbortController();
      const giveUp = (): void => {
        silence.abort();
      };
      let timer = setTimeout(giveUp, silentForMs);
      try {
        const response = await call(path, { query, signal: AbortSignal.any([signal, silence.signal]) });
        onOpen();
        if (!response.body) return;
        for await (const line of createInterface({ input: Readable.fromWeb(response.body as never) })) {
          clearTimeout(timer);
          timer = setTimeout(giveUp, silentForMs);
          if (line !== '') yield JSON.parse(line) as T;
        }
      } catch (error) {
        if (signal.aborted) return;
        throw error instanceof TailraceError ? error : unreachable(origin, error);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Page after page, until there are `limit` items or no more. */
async function untilEnough<T>(
  limit: number,
  pageOf: (query: { readonly limit: number; readonly cursor: string | undefined }) => Promise<Listed<T>>,
): Promise<Page<T>> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await pageOf({ limit: Math.min(limit - items.length, largestPage), cursor });
    items.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined && items.length < limit);
  return { items, more: cursor !== undefined };
}

/** The path of a resource, whatever characters its names have. */
export function pathOf(...segments: readonly string[]): string {
  // No escape keeps these from being understood as steps between folders.
  const step = segments.find((segment) => segment === '.' || segment === '..' || segment === '');
  if (step !== undefined) throw new UsageError(`${JSON.stringify(step)} cannot be the name of anything`);
  return ['/v1', ...segments.map(encodeURIComponent)].join('/');
}

function unreachable(origin: string, error: unknown): TailraceError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const late =
    error instanceof DOMException && (error.name === 'TimeoutError' || error.name === 'AbortError');
  const why = late ? 'it does not answer' : describe(cause);
  const message =
    `The control service at ${origin} cannot be reached: ${why}. ` +
    'Start it with `npm start` or `npm run control`, or set TAILRACE_URL to where it runs.';
  return new TailraceError('control-unavailable', message, { cause: error });
}

function describe(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code === undefined ? undefined : meanings[code]) ?? (message || (code ?? 'the connection failed'));
}

const meanings: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no host of this name',
  ECONNRESET: 'it ended the connection',
  UND_ERR_SOCKET: 'it ended the connection',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
};

interface Refusal {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly problems?: readonly { readonly field?: string; readonly rule?: string }[];
}

function refusal(origin: string, status: number, body: string): TailraceError {
  const { code, message, problems = [] } = parseRefusal(body);
  if (typeof code !== 'string' || typeof message !== 'string') return noControlService(origin, status);
  if (status === 401) {
    return new TailraceError(
      'unauthorized',
      `The control service at ${origin} does not know this token. Set TAILRACE_API_TOKEN to one of its own.`,
    );
  }
  const lines = problems.map(({ field, rule }) => `${field ?? ''}: ${rule ?? ''}`);
  const known = Object.hasOwn(errorTable, code) ? (code as ErrorCode) : 'internal-error';
  return new TailraceError(known, [known === code ? message : `${message} (${code})`, ...lines].join('\n'));
}

function parseRefusal(body: string): Refusal {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

function noControlService(origin: string, status: number): TailraceError {
  return new TailraceError(
    'control-unavailable',
    `What answers at ${origin} (status ${status}) is not a control service. Set TAILRACE_URL to where one runs.`,
  );
}
