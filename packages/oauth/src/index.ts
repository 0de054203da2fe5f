/**
 * The client credentials grant of OAuth 2.0 (RFC 6749, section 4.4), without I/O: the request for a token, and what the token server
 * has answered.
 */

export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
  readonly audience?: string | undefined;
  /** Default: HTTP Basic, which every token server has to support. */
  readonly authMethod?: 'client_secret_basic' | 'client_secret_post' | undefined;
}

export interface TokenRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** A form. */
  readonly body: string;
}

/** The request, which is a POST to the URL of the token server. */
export function tokenRequest(client: OAuthClient): TokenRequest {
  const { clientId, clientSecret, scope, audience, authMethod } = client;
  const isInBody = authMethod === 'client_secret_post';
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
    ...(isInBody && { client_id: clientId, client_secret: clientSecret }),
  });
  return {
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      Accept: 'application/json',
      ...(!isInBody && { Authorization: basicOf(client) }),
    },
    body: form.toString(),
  };
}

/** RFC 6749 requires the form encoding in front of HTTP Basic. */
function basicOf({ clientId, clientSecret }: OAuthClient): string {
  return `Basic ${Buffer.from(`${encodeForm(clientId)}:${encodeForm(clientSecret)}`).toString('base64')}`;
}

function encodeForm(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

export interface Token {
  readonly value: string;
  /** From the request on; at most a day. */
  readonly lifetimeMs: number;
}

/** For a token that does not say how long it is valid. */
const assumedLifetimeMs = 5 * 60_000;
const longestLifetimeMs = 86_400_000;

/** The token; or, as `why`, a clause about the token server, which contains no secret. */
export function readToken(
  status: number,
  body: string,
  client: OAuthClient,
): Token | { readonly why: string } {
  const fields = parseObject(body);
  if (status !== 200) return { why: `refuses a token with status ${status}${errorIn(fields, client)}` };
  const value = fields['access_token'];
  // RFC 6750. Other characters could end the header or the message that the token is sent in.
  if (typeof value !== 'string' || !/^[\w.~+/-]+=*$/.test(value)) {
    return { why: 'answers without a valid access_token' };
  }
  return { value, lifetimeMs: lifetimeOf(fields['expires_in'], value) };
}

function parseObject(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** The error of RFC 6749, section 5.2, in visible ASCII. */
function errorIn(fields: Readonly<Record<string, unknown>>, client: OAuthClient): string {
  const parts = [fields['error'], fields['error_description']].filter(
    (part) => typeof part === 'string' && part !== '',
  );
  if (parts.length === 0) return '';
  let text = parts.join(': ');
  for (const secret of secretsOf(client)) text = text.replaceAll(secret, '********');
  return ` (${text
    .slice(0, 200)
    .replaceAll(/[^ -~]/g, '?')
    .replace(/\.$/, '')})`;
}

/** The secret in the forms in which a token server may send it back. */
function secretsOf(client: OAuthClient): readonly string[] {
  const { clientSecret } = client;
  return [basicOf(client).slice('Basic '.length), clientSecret, encodeForm(clientSecret)];
}

function lifetimeOf(expiresIn: unknown, token: string): number {
  const seconds = Number(expiresIn);
  if (seconds > 0) return Math.min(seconds * 1_000, longestLifetimeMs);
  const { exp } = parseObject(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  return typeof exp === 'number' ? Math.min(exp * 1_000 - Date.now(), longestLifetimeMs) : assumedLifetimeMs;
}
