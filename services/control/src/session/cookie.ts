/**
 * The cookie of a session, and the rules for requests that have one.
 *
 * It has no Path: the browser then sends it to the folder of the route that set it, `/v1`, and below `/prefix/v1` behind a proxy
 * that serves the console under a prefix. So neither the pages nor other applications of the host get it.
 */
import { TailraceError } from '@tailrace/errors';
import type { FastifyRequest } from 'fastify';

const sessionCookie = 'tailrace_session';
/** Pages of other origins cannot set this header without a preflight request, which is never permitted. */
const consoleHeader = 'x-tailrace-console';

type Asked = Pick<FastifyRequest, 'headers' | 'host' | 'method' | 'protocol'>;

export function readCookie({ headers }: Pick<Asked, 'headers'>): string | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (pair.slice(0, at).trim() === sessionCookie) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** @param value empty to remove the cookie */
export function writeCookie(request: Asked, value: string, maxAgeS: number): string {
  const secure = isSecure(request) ? '; Secure' : '';
  return `${sessionCookie}=${value}; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`;
}

/**
 * Behind a proxy that ends TLS, the page knows its own origin, which browsers put into the request. So Secure does not depend on
 * TAILRACE_TRUSTED_PROXIES.
 */
function isSecure({ headers, protocol }: Asked): boolean {
  return protocol === 'https' || (headers.origin?.startsWith('https://') ?? false);
}

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses a change that another page sent with the cookie of this one. SameSite=Strict prevents it already, but not from another port
 * or a subdomain of the same site.
 *
 * @throws TailraceError `forbidden`
 */
export function requireOwnPage({ headers, host, method }: Asked): void {
  if (safe.has(method)) return;
  if (headers[consoleHeader] === undefined) {
    throw new TailraceError('forbidden', `A change with a session needs the header ${consoleHeader}.`);
  }
  // Browsers send Sec-Fetch-Site over HTTPS and to localhost only, and proxies do not change it. Otherwise the origin decides.
  const site = headers['sec-fetch-site'];
  const isOwn = site === undefined ? isOwnOrigin(headers, host) : site === 'same-origin';
  if (!isOwn)
    throw new TailraceError('forbidden', 'A change with a session must come from a page of this server.');
}

/** @param host that of X-Forwarded-Host where a trusted proxy has set it */
function isOwnOrigin({ origin, host: asked }: Asked['headers'], host: string): boolean {
  if (origin === undefined) return true;
  const from = URL.canParse(origin) ? new URL(origin).host : undefined;
  return from !== undefined && [asked, host].some((own) => own !== undefined && hostOf(own, origin) === from);
}

/** Without the default port of the scheme, as browsers write origins. */
function hostOf(host: string, origin: string): string | undefined {
  const url = `${origin.slice(0, origin.indexOf(':'))}://${host}`;
  return URL.canParse(url) ? new URL(url).host : undefined;
}
