/**
 * Checks whether a Docker engine responds, within a second and without the client library, which takes longer to
 * load and is not needed on machines without Docker.
 */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { get, type RequestOptions } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './node.ts';

export async function dockerAnswers(env: Environment, timeoutMs = 1_000): Promise<boolean> {
  const answers = await Promise.all(endpoints(env).map((endpoint) => pings(endpoint, timeoutMs)));
  return answers.includes(true);
}

/** The sockets where testcontainers looks for an engine. */
function endpoints(env: Environment): RequestOptions[] {
  const host = env['DOCKER_HOST'];
  if (host !== undefined && host !== '') {
    const url = URL.parse(host);
    if (url === null) return [];
    if (url.protocol === 'unix:') return [{ socketPath: url.pathname }];
    return [{ host: url.hostname, port: Number(url.port === '' ? '2375' : url.port) }];
  }
  const runtimeDir = env['XDG_RUNTIME_DIR'];
  const sockets = [
    '/var/run/docker.sock',
    ...(runtimeDir === undefined ? [] : [join(runtimeDir, 'docker.sock')]),
    join(homedir(), '.docker', 'run', 'docker.sock'),
    join(homedir(), '.docker', 'desktop', 'docker.sock'),
  ];
  return sockets.filter((path) => existsSync(path)).map((socketPath) => ({ socketPath }));
}

/** Any response counts: an engine that requires TLS responds with an error in plain text. */
async function pings(endpoint: RequestOptions, timeoutMs: number): Promise<boolean> {
  const signal = AbortSignal.timeout(timeoutMs);
  const request = get({ ...endpoint, path: '/_ping', agent: false, signal });
  try {
    await once(request, 'response');
    return true;
  } catch {
    return false;
  } finally {
    request.destroy();
  }
}
