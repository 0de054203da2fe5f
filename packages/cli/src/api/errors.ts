/** Errors of the control service and of the connection to it, with how to fix them. */
import { errorTable, TailraceError, type ErrorCode } from '@tailrace/errors';

/** The request failed without a response. */
export function connectionError(origin: string, error: unknown): TailraceError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const isTimeout =
    error instanceof DOMException && (error.name === 'TimeoutError' || error.name === 'AbortError');
  const reason = isTimeout ? meanings.UND_ERR_CONNECT_TIMEOUT : describe(cause);
  const start = isHere(origin) ? 'Start it with `npm start` or `npm run control`' : 'Check that it runs';
  const message = `The control service at ${origin} cannot be reached: ${reason}. ${start}, or set TAILRACE_URL to its address.`;
  return new TailraceError('control-unavailable', message, { cause: error });
}

function isHere(origin: string): boolean {
  return /^(localhost|127\..*|\[::1\])$/.test(new URL(origin).hostname);
}

/** Whether the service closed the connection before it answered. */
export function isClosed(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  return code === 'ECONNRESET' || code === 'UND_ERR_SOCKET';
}

function describe(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined && Object.hasOwn(meanings, code)) return meanings[code as keyof typeof meanings];
  return message || (code ?? 'the connection failed');
}

const meanings = {
  ECONNREFUSED: 'nothing listens on this port',
  ENOTFOUND: 'the host name is unknown',
  ECONNRESET: 'it closed the connection',
  UND_ERR_SOCKET: 'it closed the connection',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
};

interface ErrorBody {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly problems?: readonly { readonly field?: string; readonly rule?: string }[];
}

/** The service answered with an error; `body` is its text. */
export function responseError(origin: string, status: number, body: string): TailraceError {
  const { code, message, problems = [] } = parseErrorBody(body);
  if (typeof code !== 'string' || typeof message !== 'string') return notControlService(origin, status);
  if (status === 401) {
    return new TailraceError(
      'unauthorized',
      `The control service at ${origin} does not know this token. Set TAILRACE_API_TOKEN to one of its tokens.`,
    );
  }
  // Most messages say the rules themselves.
  const lines = problems.flatMap(({ field = '', rule = '' }) =>
    message.includes(rule) ? [] : [`${field}: ${rule}`],
  );
  const known = Object.hasOwn(errorTable, code) ? (code as ErrorCode) : 'internal-error';
  return new TailraceError(known, [known === code ? message : `${message} (${code})`, ...lines].join('\n'));
}

function parseErrorBody(body: string): ErrorBody {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

export function notControlService(origin: string, status: number): TailraceError {
  return new TailraceError(
    'control-unavailable',
    `The server at ${origin} (status ${status}) is not a control service. Set TAILRACE_URL to the address of one.`,
  );
}
