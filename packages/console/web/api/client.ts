/** The client of the public API, generated from its OpenAPI document. Every request of the console passes here. */
import type { paths, Schema } from '@tailrace/api';
import createClient, {
  defaultPathSerializer,
  type ClientPathsWithMethod,
  type MethodResponse,
} from 'openapi-fetch';
import { signal } from '@preact/signals';
import { errors } from '../text/errors.ts';
import { followClock } from './clock.ts';

export type { Schema };

/** The folder of this page: `https://host/prefix`. */
const base = typeof document === 'undefined' ? '' : new URL('.', document.baseURI).href.replace(/\/$/, '');

/** Whether the server answers. A lost connection is tried again until it does. */
export const connection = signal<'good' | 'lost' | 'recovered'>('good');
/** Increased when the server has become reachable again: pages then load what they show. */
export const generation = signal(0);
/** Set when an answer was 401: the session has ended. */
export const signedOut = signal(false);

/** An error answer, or a failure to get one. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly problems: readonly { readonly field: string; readonly rule: string }[];
  /** After which the server wants to be asked again. */
  readonly retryAfterMs: number | undefined;
  /** @param body of the answer, which a proxy may have written */
  constructor(status: number, body: unknown, headers?: Headers) {
    const { code, message, problems } = (body ?? {}) as Partial<Schema['Error']>;
    super(typeof message === 'string' ? message : errors.unreadable(status));
    this.status = status;
    this.code = typeof code === 'string' ? code : 'internal-error';
    this.problems = Array.isArray(problems) ? problems : [];
    this.retryAfterMs = retryAfterOf(headers);
  }
}

function retryAfterOf(headers: Headers | undefined): number | undefined {
  const seconds = Number(headers?.get('retry-after') ?? undefined);
  return seconds > 0 ? seconds * 1_000 : undefined;
}

const firstPauseMs = 500;
const longestPauseMs = 5_000;
const recoveredForMs = 4_000;
let isProbing = false;

/** Asks again until there is an answer, and reports both. */
async function probe(): Promise<void> {
  if (isProbing) return;
  isProbing = true;
  // The first question is asked immediately: another instance may answer, and there is then nothing to say.
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const answer = await fetch(`${base}/v1/session`, { cache: 'no-store' }).catch(() => undefined);
    // 5xx is what a proxy answers while control restarts, and 429 what a server answers that has too much to do.
    if (answer && answer.status < 500 && answer.status !== 429) {
      if (answer.status === 401) signedOut.value = true;
      break;
    }
    connection.value = 'lost';
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  isProbing = false;
  if (connection.value === 'lost') connection.value = 'recovered';
  generation.value += 1;
  setTimeout(() => {
    if (connection.peek() === 'recovered') connection.value = 'good';
  }, recoveredForMs);
}

export function connectionLost(): void {
  void probe();
}

/** Browsers shorten such steps of an address, also encoded ones: the request would be another one. */
const shortened = /\/\.{1,2}(?=\/|\?|$)/;

/** Whether the page itself ended the request. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** @param transfer what sends the request, in place of the browser's `fetch` */
export async function send(
  request: Request,
  transfer: (request: Request) => Promise<Response> = fetch,
): Promise<Response> {
  try {
    const answer = await transfer(request);
    followClock(answer.headers);
    if (answer.status === 401 && !request.url.endsWith('/v1/session')) signedOut.value = true;
    if ([502, 504].includes(answer.status)) connectionLost();
    return answer;
  } catch (error) {
    if (!request.signal.aborted && !isAbort(error)) connectionLost();
    throw error;
  }
}

export const api = createClient<paths>({
  baseUrl: base,
  pathSerializer(path, parameters) {
    const made = defaultPathSerializer(path, parameters);
    if (shortened.test(made)) throw new ApiError(400, { message: errors.dots });
    return made;
  },
  fetch: (request) => send(request),
  headers: { 'X-Tailrace-Console': '1' },
});

export function urlOf(path: string): string {
  return `${base}${path}`;
}

interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * The content of an answer: `await ask(api.GET('/v1/sources'))`.
 *
 * @throws ApiError
 */
export async function ask<Data>(answer: Promise<Answer<Data>>): Promise<Data> {
  return (await askWhole(answer)).data;
}

/** The content and the ETag of an answer. @throws ApiError */
export async function askWhole<Data>(
  answer: Promise<Answer<Data>>,
): Promise<{ readonly data: Data; readonly etag: string | undefined }> {
  let answered: Answer<Data>;
  try {
    answered = await answer;
  } catch (error) {
    if (error instanceof DOMException || error instanceof ApiError) throw error;
    // Content that is not JSON is not of the API: a proxy has answered.
    if (error instanceof SyntaxError)
      throw new ApiError(0, { code: 'unreadable', message: errors.unreadable(200) });
    throw new ApiError(0, { message: errors.unreachable });
  }
  const { data, error, response } = answered;
  if (!response.ok) throw new ApiError(response.status, error, response.headers);
  return { data: data as Data, etag: response.headers.get('etag') ?? undefined };
}

/** The paths that can be read. */
export type Readable = ClientPathsWithMethod<typeof api, 'get'>;
/** The values in the path and in the query. */
export type ParamsOf<Path extends Readable> = Pick<
  NonNullable<paths[Path]['get']>['parameters'],
  'path' | 'query'
>;
export type AnswerOf<Path extends Readable> = MethodResponse<typeof api, 'get', Path>;

/** Reads `path`: `get('/v1/tokens', { query: { limit: 100 } }, signal)`. @throws ApiError */
export function get<Path extends Readable>(
  path: Path,
  params: ParamsOf<Path>,
  signal: AbortSignal,
): Promise<AnswerOf<Path>> {
  // The client asks for the parameters of one path, and this is any of them.
  return ask(api.GET(path, { params, signal } as never) as Promise<Answer<AnswerOf<Path>>>);
}
