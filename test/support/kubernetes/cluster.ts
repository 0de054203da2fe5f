/**
 * A cluster with a kubelet, that of `TAILRACE_KUBECONFIG`. It has the images of infra/node/images.ts. A Kafka, a receiver and senders run
 * in it, in namespaces that are deleted afterwards.
 */
import assert from 'node:assert/strict';
import { readFileSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@tailrace/testing';
import { parse } from 'yaml';
import { root } from '../docker/images.ts';
import { run, runToEnd, type Ended } from '../tools/command.ts';
import { toolPath } from '../tools/tools.ts';

/** The registry and the version of the handbook. */
const cli = 'registry.example.com/team/tailrace-cli:0.1.0';
const namespaces = ['events', 'kafka', 'clients', 'strangers', 'second'];

/** The state of a pod, as far as tests read it. */
export interface Pod {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly nodeName: string };
  readonly status: {
    readonly phase: string;
    readonly podIP: string;
    readonly containerStatuses?: readonly {
      readonly ready: boolean;
      readonly restartCount: number;
      readonly state: { readonly waiting?: { readonly reason: string } };
      readonly lastState: { readonly terminated?: { readonly reason: string } };
    }[];
  };
}

export class Cluster implements AsyncDisposable {
  /** Has `infra/`, `node_modules/` and files of the test. */
  readonly folder: string;
  readonly #kubectl: string;
  #senders = 0;

  private constructor(folder: string, kubectl: string) {
    this.folder = folder;
    this.#kubectl = kubectl;
  }

  /** @throws Error that says how to get a cluster, or that one of the namespaces exists */
  static async open(): Promise<Cluster> {
    const { TAILRACE_KUBECONFIG: config } = process.env;
    if (config === undefined) {
      throw new Error(
        'TAILRACE_KUBECONFIG is not set: it names the kubeconfig of a cluster for tests, such as that of infra/node/up.',
      );
    }
    const programs = await Promise.all((['helm', 'kubectl'] as const).map((name) => toolPath(name)));
    const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-cluster-'));
    for (const name of ['infra', 'node_modules']) symlinkSync(path.join(root, name), path.join(folder, name));
    process.env['KUBECONFIG'] = config;
    const search = [
      ...programs.map((program) => path.dirname(program)),
      path.join(root, 'node_modules/.bin'),
    ];
    process.env['PATH'] = [...search, process.env['PATH']].join(':');
    const cluster = new Cluster(folder, programs[1] ?? '');
    for (const name of namespaces.slice(1)) await cluster.kubectl('create', 'namespace', name);
    return cluster;
  }

  kubectl(...args: readonly string[]): Promise<string> {
    return run(this.#kubectl, args);
  }

  async get<T>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.kubectl('get', ...args, '--output', 'json')) as T;
  }

  async apply(namespace: string, ...items: readonly object[]): Promise<void> {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await run(this.#kubectl, ['apply', '--server-side', '--namespace', namespace, '--filename', '-'], {
      input,
    });
  }

  /** Runs a command line in the folder. */
  shell(command: string): Promise<Ended> {
    return runToEnd('bash', ['-euc', command], { cwd: this.folder });
  }

  /** The pods of a service of the release. */
  async pods(component: string, namespace = 'events'): Promise<readonly Pod[]> {
    const selector = `app.kubernetes.io/component=${component}`;
    const { items } = await this.get<{ items: Pod[] }>('pods', '-n', namespace, '--selector', selector);
    return items;
  }

  /** Runs JavaScript in the container of a pod. */
  evaluate(namespace: string, pod: string, script: string): Promise<string> {
    return this.kubectl('exec', '-n', namespace, pod, '--', 'node', '--eval', script);
  }

  /** A broker that keeps its data when its process ends, at kafka.kafka:9092. */
  async startKafka(): Promise<void> {
    const compose = parse(readFileSync(path.join(root, 'infra/compose/compose.yaml'), 'utf8'), {
      merge: true,
    }) as {
      services: { kafka: { image: string; environment: Record<string, string> } };
    };
    const { image, environment } = compose.services.kafka;
    const variables = { ...environment, KAFKA_ADVERTISED_LISTENERS: 'CLIENTS://kafka.kafka:9092' };
    await this.apply(
      'kafka',
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'kafka', labels: { app: 'kafka' } },
        spec: {
          // Its variables would be properties of the broker.
          enableServiceLinks: false,
          // The first process of a container cannot be stopped from within.
          shareProcessNamespace: true,
          securityContext: { fsGroup: 1000 },
          containers: [
            {
              name: 'kafka',
              image,
              env: Object.entries(variables).map(([name, value]) => ({ name, value })),
              volumeMounts: [{ name: 'data', mountPath: '/var/lib/kafka/data' }],
              readinessProbe: { tcpSocket: { port: 9092 } },
            },
          ],
          volumes: [{ name: 'data', emptyDir: {} }],
        },
      },
      service('kafka', 9092),
    );
    await this.kubectl('wait', '--for=condition=Ready', '-n', 'kafka', 'pod/kafka', '--timeout=120s');
  }

  /** Sends a signal to the process of the broker. */
  async signalKafka(signal: 'STOP' | 'CONT'): Promise<void> {
    const script = `for comm in /proc/[0-9]*/comm; do [ "$(cat $comm)" != java ] || kill -${signal} "$(basename "$(dirname $comm)")"; done`;
    await this.kubectl('exec', '-n', 'kafka', 'kafka', '--', 'sh', '-c', script);
  }

  /** A receiver at http://receiver.clients. Resolves with the addresses that webhooks to it go to. */
  async startReceiver(): Promise<readonly string[]> {
    await this.kubectl(
      'create',
      'configmap',
      'scripts',
      '-n',
      'clients',
      `--from-file=${path.join(import.meta.dirname, 'pods')}`,
    );
    await this.apply('clients', client('receiver', ['receiver.ts']), service('receiver', 80, 8080));
    await this.kubectl('wait', '--for=condition=Ready', '-n', 'clients', 'pod/receiver', '--timeout=120s');
    const { spec } = await this.get<{ spec: { clusterIP: string } }>('service/receiver', '-n', 'clients');
    const { status } = await this.get<Pod>('pod/receiver', '-n', 'clients');
    return [spec.clusterIP, status.podIP];
  }

  /** Acts while events are sent. Then each event that was accepted has to arrive. */
  async underLoad(writeKey: string, act: () => Promise<unknown>): Promise<void> {
    this.#senders += 1;
    const name = `sender-${this.#senders}`;
    await this.apply(
      'clients',
      client(name, ['sender.ts', 'http://tailrace-ingest.events/v1/track', writeKey, name]),
    );
    const linesOf = async (pod: string): Promise<string[]> =>
      (await this.kubectl('logs', '-n', 'clients', pod))
        .split('\n')
        .filter((line) => line.startsWith(`${name}-`));
    await this.kubectl('wait', '--for=condition=Ready', '-n', 'clients', `pod/${name}`, '--timeout=120s');
    await eventually(
      () => linesOf(name),
      (sent) => sent.length > 0,
    );
    await act();
    await this.kubectl(
      'exec',
      '-n',
      'clients',
      name,
      '--',
      'node',
      '--eval',
      "fs.writeFileSync('/tmp/ended', '')",
    );
    await this.kubectl(
      'wait',
      '--for=jsonpath={.status.phase}=Succeeded',
      '-n',
      'clients',
      `pod/${name}`,
      '--timeout=120s',
    );
    const sent = await linesOf(name);
    const missing = await eventually(
      async () => {
        const arrived = new Set(await linesOf('receiver'));
        return sent.filter((each) => !arrived.has(each));
      },
      ({ length }) => length === 0,
    );
    assert.deepEqual(missing, []);
    await this.kubectl('delete', '-n', 'clients', `pod/${name}`);
  }

  /** Volumes of a namespace go with it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kubectl('delete', 'namespace', '--ignore-not-found', ...namespaces);
    await rm(this.folder, { recursive: true });
  }
}

/** A pod that runs a script of `pods/`, as restricted as those of the chart. */
function client(name: string, command: readonly string[]): object {
  const [script = '', ...args] = command;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'node',
          image: cli,
          command: ['node', `/scripts/${script}`, ...args],
          volumeMounts: [{ name: 'scripts', mountPath: '/scripts' }],
        },
      ],
      volumes: [{ name: 'scripts', configMap: { name: 'scripts' } }],
    },
  };
}

function service(app: string, port: number, targetPort = port): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: app },
    spec: { selector: { app }, ports: [{ port, targetPort }] },
  };
}
