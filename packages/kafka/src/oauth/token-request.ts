/** One request for a token: the client credentials grant of OAuth 2.0. */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { TailraceError } from '@tailrace/errors';
import { readToken, tokenRequest, type OAuthClient, type Token } from '@tailrace/oauth';

/** Where tokens come from. */
export interface TokenServer extends OAuthClient {
  readonly tokenUrl: string;
  /** Certificate authority in PEM; by default, those of the system. */
  readonly ca?: string | undefined;
}

/** From connecting to the end of the answer. Below the library's time limit for connecting to a broker. */
const requestTimeoutMs = 5_000;
const maxAnswerBytes = 256 * 1024;

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
  const token = readToken(answer.status, answer.body, server);
  if ('why' in token) throw failed(token.why);
  return token;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

function post(server: TokenServer, timeoutMs: number): Promise<Answer> {
  const url = new URL(server.tokenUrl);
  const { headers, body } = tokenRequest(server);
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        headers,
        // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
        ...(url.protocol === 'https:' && {
          rejectUnauthorized: true,
          ...(server.ca !== undefined && { ca: server.ca }),
        }),
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
    sent.end(body);
  });
}

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
