/** The HTTP server for operators: `/metrics` and its pages, `/livez` and `/readyz`, on a separate port. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { listen } from '../http/server.ts';
import type { CheckReport } from './health.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { MetricsPage } from '../metrics/page.ts';
import { createSlicer } from './slices.ts';

/** The answer of `/readyz`. */
export interface Readiness {
  readonly ready: boolean;
  /** Why it is not ready. */
  readonly reason?: string;
  /** The last results. A check that fails does not make the process unready. */
  readonly checks: readonly CheckReport[];
}

export async function startProbeServer(options: {
  readonly port: number;
  readonly host?: string | undefined;
  readonly metrics: Metrics;
  readonly readiness: () => Readiness;
}): Promise<{ readonly port: number; close(): Promise<void> }> {
  const { metrics, readiness } = options;
  const inSlices = createSlicer();
  const pages = Object.entries<Pick<MetricsPage, 'lines'>>({ ...metrics.pages }).map(([name, page]) => {
    const answer = (): Promise<Answer> =>
      Promise.resolve({ status: 200, contentType: metrics.contentType, body: inSlices(page.lines()) });
    return [`/metrics/${name}`, answer] as const;
  });
  const answers: Readonly<Record<string, () => Promise<Answer>>> = {
    '/metrics': async () => ({
      status: 200,
      contentType: metrics.contentType,
      body: inSlices([await metrics.expose()]),
    }),
    ...Object.fromEntries(pages),
    // A process that answers is live: unexpected errors end the process.
    '/livez': () => Promise.resolve(json(200, { live: true })),
    '/readyz': () => {
      const found = readiness();
      return Promise.resolve(json(found.ready ? 200 : 503, found));
    },
  };
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    const answer = answers[path] ?? (() => Promise.resolve(json(404, { paths: Object.keys(answers) })));
    answer().then(
      (found) => send(request, response, found),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const port = await listen(server, options, 'TAILRACE_METRICS_PORT');
  return {
    port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  /** An iterable body is generated while it is sent, and compressed if the client accepts gzip. */
  readonly body: string | AsyncIterable<string>;
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, contentType, body }: Answer,
): void {
  const headers = { 'content-type': contentType, 'cache-control': 'no-store' };
  if (typeof body === 'string') {
    response.writeHead(status, headers).end(body);
    return;
  }
  const compressed = acceptsGzip(request.headers['accept-encoding']);
  response.writeHead(status, {
    ...headers,
    vary: 'accept-encoding',
    ...(compressed && { 'content-encoding': 'gzip' }),
  });
  const text = Readable.from(body, { highWaterMark: 1 });
  // Compression runs in another thread; its fastest level reduces the text to a tenth.
  const sent = compressed
    ? pipeline(text, createGzip({ level: constants.Z_BEST_SPEED }), response)
    : pipeline(text, response);
  // The client has disconnected, or generating the text failed; the response is cut off.
  sent.catch(() => undefined);
}

/** Whether a header Accept-Encoding allows gzip (RFC 9110, 12.5.3). */
export function acceptsGzip(header = ''): boolean {
  const weights = new Map(
    header.split(',').map((item) => {
      const [coding = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
      return [coding, Number(weight)];
    }),
  );
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}

function json(status: number, value: object): Answer {
  return { status, contentType: 'application/json', body: `${JSON.stringify(value)}\n` };
}
