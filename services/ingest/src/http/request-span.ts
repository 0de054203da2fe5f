/** The span of a request, by the semantic conventions of OpenTelemetry for HTTP servers. */
import type { IncomingMessage } from 'node:http';
import { validTraceparent, type Span, type Tracing } from '@tailrace/tracing';
import type { Route } from './router.ts';

/** Other methods are not routed, and have any name. */
const knownMethods = new Set(['GET', 'POST', 'OPTIONS', 'HEAD', 'PUT', 'DELETE', 'PATCH']);

/** The caller's `traceparent`, or undefined where it sent none that is valid. */
export function callersTraceparent({ headers: { traceparent } }: IncomingMessage): string | undefined {
  return typeof traceparent === 'string' ? validTraceparent(traceparent) : undefined;
}

/** Paths and queries are not recorded: they contain write keys and calls. The route says what was requested. */
export function startRequestSpan(
  tracing: Tracing,
  request: IncomingMessage,
  route: Route | undefined,
  parent: string | undefined,
): Span {
  const method = knownMethods.has(request.method ?? '') ? (request.method ?? '') : '_OTHER';
  const path = route?.paths[0];
  return tracing.start({
    name: path === undefined ? method : `${method} ${path}`,
    kind: 'server',
    parent,
    attributes: {
      'http.request.method': method,
      'http.route': path,
      'url.scheme': 'http',
      'network.protocol.version': request.httpVersion,
    },
  });
}

/** Only errors of the service are failures of a server's span. */
export function endRequestSpan(span: Span, status: number, code: string | undefined): void {
  span.set({ 'http.response.status_code': status, 'error.type': code });
  if (status >= 500) span.fail(code ?? String(status));
  span.end();
}
