/**
 * Checks whether a Docker engine responds, within a second and without the client library, which takes longer to
 * load and is not needed on machines without Docker.
 */
import { existsSync } from 'node:fs';
import { connect, type NetConnectOpts } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './node.ts';

export async function dockerAnswers(env: Environment, timeoutMs = 1_000): Promise<boolean> {
  const answers = await Promise.all(endpoints(env).map((endpoint) => pings(endpoint, timeoutMs)));
  return answers.includes(true);
}

/** The sockets where testcontainers looks for an engine. */
function endpoints(env: Environment): NetConnectOpts[] {
  const host = env['DOCKER_HOST'];
  if (host !== undefined && host !== '') {
    const url = URL.parse(host);
    if (url === null) return [];
    if (url.protocol === 'unix:') return [{ path: url.pathname }];
    return [{ host: url.hostname, port: Number(url.port === '' ? '2375' : url.port) }];
  }
  const runtimeDir = env['XDG_RUNTIME_DIR'];
  const sockets = [
    '/var/run/docker.sock',
    ...(runtimeDir === undefined ? [] : [join(runtimeDir, 'docker.sock')]),
    join(homedir(), '.docker', 'run', 'docker.sock'),
    join(homedir(), '.docker', 'desktop', 'docker.sock'),
  ];
  return sockets.filter((path) => existsSync(path)).map((path) => ({ path }));
}

/** Any response counts: an engine that requires TLS responds with an error in plain text. */
function pings(endpoint: NetConnectOpts, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(endpoint);
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    let answered = false;
    socket.on('connect', () => socket.write('GET /_ping HTTP/1.0\r\n\r\n'));
    socket.on('data', () => {
      answered = true;
      socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(answered);
    });
  });
}
