/**
 * A real API server of Kubernetes, with its etcd, on loopback. There are no controllers and no nodes: objects are
 * validated, admitted and stored, and no pod runs.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run, runToEnd, type Ended } from '../tools/command.ts';
import { toolPath } from '../tools/tools.ts';
import { startProgram, untilReady } from '../processes/program.ts';
import { closedPort } from '../receivers/closed-port.ts';

export interface ApiServer extends AsyncDisposable {
  /** The environment in which helm and kubectl use this server. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs kubectl; `input` is its standard input. Warnings of the server are in `err`. */
  kubectl(args: readonly string[], input?: string): Promise<Ended>;
}

/** Starts both; ready after some ten seconds. */
export async function startApiServer(): Promise<ApiServer> {
  const [etcd, server, kubectl] = await Promise.all([
    toolPath('etcd'),
    toolPath('kube-apiserver'),
    toolPath('kubectl'),
  ]);
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-kubernetes-'));
  const started = new AsyncDisposableStack();
  started.defer(() => rm(folder, { recursive: true }));
  try {
    const [clientPort, peerPort, securePort] = [await closedPort(), await closedPort(), await closedPort()];
    const store = `http://127.0.0.1:${clientPort}`;
    const peer = `http://127.0.0.1:${peerPort}`;
    started.use(
      startProgram(etcd, [
        '--data-dir',
        path.join(folder, 'etcd'),
        '--log-level',
        'error',
        '--listen-client-urls',
        store,
        '--advertise-client-urls',
        store,
        '--listen-peer-urls',
        peer,
        '--initial-advertise-peer-urls',
        peer,
        '--initial-cluster',
        `default=${peer}`,
        '--unsafe-no-fsync',
      ]),
    );
    const token = randomBytes(24).toString('hex');
    const tokens = path.join(folder, 'tokens.csv');
    await writeFile(tokens, `${token},tester,tester,system:masters\n`, { mode: 0o600 });
    const key = path.join(folder, 'accounts.key');
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await writeFile(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    const api = startProgram(server, [
      `--etcd-servers=${store}`,
      `--secure-port=${securePort}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${folder}`,
      `--token-auth-file=${tokens}`,
      '--authorization-mode=RBAC',
      '--service-account-issuer=https://tailrace.example',
      '--service-cluster-ip-range=10.96.0.0/16',
      `--service-account-key-file=${key}`,
      `--service-account-signing-key-file=${key}`,
      // Without controllers, no namespace gets its default account.
      '--disable-admission-plugins=ServiceAccount',
    ]);
    started.use(api);

    const url = `https://127.0.0.1:${securePort}`;
    const config = path.join(folder, 'kubeconfig');
    await writeFile(
      config,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'test',
        clusters: [{ name: 'test', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'test', user: { token } }],
        contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      }),
      { mode: 0o600 },
    );
    const env = { KUBECONFIG: config, HOME: folder, PATH: process.env['PATH'] ?? '' };
    const call = (args: readonly string[], input?: string): Promise<Ended> =>
      runToEnd(kubectl, args, input === undefined ? { env } : { env, input });
    await untilReady(() => run(kubectl, ['get', '--raw', '/readyz'], { env }), api);
    return {
      env,
      kubectl: call,
      [Symbol.asyncDispose]: () => started.disposeAsync(),
    };
  } catch (error) {
    await started.disposeAsync();
    throw error;
  }
}
