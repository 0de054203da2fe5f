/**
 * One request for a token: the client credentials grant of OAuth 2.0 (RFC 6749, section 4.4). The client authenticates with
 * HTTP Basic, which every token server has to support.
 */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { TailraceError } from '@tailrace/errors';

/** Where tokens come from. */
export interface TokenServer {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
  /** Certificate authority in PEM; by default, those of the system. */
  readonly ca?: string | undefined;
}

export interface Token {
  readonly value: string;
  readonly lifetimeMs: number;
}

/** From connecting to the end of the answer. Below the library's time limit for connecting to a broker. */
export const requestTimeoutMs = 5_000;
const maxAnswerBytes = 256 * 1024;
/** For a token that does not say how long it is valid. The broker asks for a new one when it has expired. */
const assumedLifetimeMs = 5 * 60_000;

/** @throws TailraceError `kafka-token-unavailable`, whose message never contains the secret or a token */
export async function requestToken(server: TokenServer, timeoutMs = requestTimeoutMs): Promise<Token> {
  const failed = (reason: string, cause?: unknown): TailraceError =>
    new TailraceError(
      'kafka-token-unavailable',
      `The token server ${withoutQuery(server.tokenUrl)} ${reason}. ` +
        'Check KAFKA_OAUTH_TOKEN_URL, KAFKA_OAUTH_CLIENT_ID, KAFKA_OAUTH_CLIENT_SECRET and KAFKA_OAUTH_SCOPE.',
      { cause },
    );
  let answer: Answer;
  try {
    answer = await post(server, timeoutMs);
  } catch (error) {
    const { name, code, message } = error as NodeJS.ErrnoException;
    if (name === 'TimeoutError' || code === 'ABORT_ERR')
      throw failed(`did not answer within ${timeoutMs} ms`, error);
    throw failed(`cannot be used: ${message}`, error);
  }
  const fields = parseObject(answer.body);
  if (answer.status !== 200) throw failed(`refuses a token with status ${answer.status}${detail(fields)}`);
  const value = fields['access_token'];
  // RFC 6750. Other characters could end the field in the message to the broker.
  if (typeof value !== 'string' || !/^[\w.~+/-]+=*$/.test(value)) {
    throw failed('answers without a valid access_token');
  }
  return { value, lifetimeMs: lifetimeOf(fields['expires_in'], value) };
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

function post(
  { tokenUrl, clientId, clientSecret, scope, ca }: TokenServer,
  timeoutMs: number,
): Promise<Answer> {
  const url = new URL(tokenUrl);
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope !== undefined && { scope }),
  });
  const credentials = [clientId, clientSecret].map(encodeForm).join(':');
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
          accept: 'application/json',
        },
        // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
        ...(url.protocol === 'https:' && { rejectUnauthorized: true, ...(ca !== undefined && { ca }) }),
        // A token is requested rarely, so no connection is kept.
        agent: false,
        signal: AbortSignal.timeout(timeoutMs),
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > maxAnswerBytes) response.destroy(new Error('its answer is too large'));
          else chunks.push(chunk);
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body.toString());
  });
}

/** As application/x-www-form-urlencoded, which RFC 6749 requires in front of HTTP Basic. */
function encodeForm(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

function parseObject(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** The error of RFC 6749, section 5.2. */
function detail({ error, error_description: description }: Readonly<Record<string, unknown>>): string {
  const parts = [error, description].filter((part) => typeof part === 'string' && part !== '');
  if (parts.length === 0) return '';
  return ` (${parts
    .join(': ')
    .slice(0, 200)
    .replaceAll(/[^ -~]/g, '?')
    .replace(/\.$/, '')})`;
}

function lifetimeOf(expiresIn: unknown, token: string): number {
  const seconds = Number(expiresIn);
  if (Number.isFinite(seconds) && seconds > 0) return seconds * 1_000;
  const claims = parseObject(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const { exp } = claims;
  return typeof exp === 'number' ? exp * 1_000 - Date.now() : assumedLifetimeMs;
}

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
