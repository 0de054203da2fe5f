/** The HTTP server for operators: `/metrics`, `/livez` and `/readyz`, on a port of its own. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TailraceError } from '@tailrace/errors';
import type { Health } from './health.ts';
import type { Metrics } from './metrics.ts';

export interface ProbeServer {
  readonly port: number;
  close(): Promise<void>;
}

export async function startProbeServer(options: {
  readonly port: number;
  readonly metrics: Metrics;
  readonly health: Health;
}): Promise<ProbeServer> {
  const { metrics, health } = options;
  const answers: Readonly<Record<string, () => Promise<Answer>>> = {
    '/metrics': async () => ({ status: 200, ...(await metrics.expose()) }),
    // Alive is whoever answers: what is broken beyond repair has ended the process by itself.
    '/livez': () => Promise.resolve(json(200, { live: true })),
    '/readyz': async () => {
      const report = await health.report();
      return json(report.ready ? 200 : 503, report);
    },
  };
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    const answer = answers[path] ?? (() => Promise.resolve(json(404, { paths: Object.keys(answers) })));
    answer().then(
      ({ status, contentType, body }) => {
        response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' }).end(body);
      },
      (error: unknown) => {
        response.writeHead(500).end(String(error));
      },
    );
  });
  const port = await listen(server, options.port, 'TAILRACE_METRICS_PORT');
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
  readonly body: string;
}

function json(status: number, value: object): Answer {
  return { status, contentType: 'application/json', body: `${JSON.stringify(value)}\n` };
}

/**
 * Opens `server` on all interfaces and gives the port, which is another where 0 was asked for. A port that
 * cannot be had is a TailraceError('invalid-settings') that names `setting`, the variable to change.
 */
export async function listen(server: Server, port: number, setting: string): Promise<number> {
  await new Promise<void>((listening, failed) => {
    server.once('error', (error) => {
      failed(unusablePort(error, port, setting));
    });
    server.listen(port, listening);
  });
  return (server.address() as AddressInfo).port;
}

/** The error to report where listening on `port` failed with `error`. */
function unusablePort(error: NodeJS.ErrnoException, port: number, setting: string): Error {
  const why = {
    EADDRINUSE: 'is in use by another process. Stop that one',
    EACCES: 'may not be opened by this user. Allow it',
  }[error.code ?? ''];
  if (why === undefined) return error;
  return new TailraceError(
    'invalid-settings',
    `${setting}: port ${port} ${why}, or set ${setting} to another.`,
  );
}
