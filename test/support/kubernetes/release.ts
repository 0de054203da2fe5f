/** The release of the handbook on a cluster, with a Kafka, a receiver, and the values of the chart's README. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '@tailrace/testing';
import { parse, stringify } from 'yaml';
import { root } from '../docker/images.ts';
import { startProgram } from '../processes/program.ts';
import { Cluster } from './cluster.ts';
import { handbook } from './handbook.ts';

export const services = ['ingest', 'router', 'delivery', 'control'] as const;
export const upgradeCommand = 'helm upgrade tailrace infra/chart -n events -f values.yaml';

/** Needs a way from this machine to the brokers, or a registry. live/handbook.test.ts and live/release.test.ts have them. */
const elsewhere =
  /^for image|^npx tailrace (why .*--around|recover|config)|KAFKA_BROKERS=new|^node infra\/release/;

const sections = handbook();

export class Release implements AsyncDisposable {
  readonly cluster: Cluster;
  /** The content of `values.yaml`, once `writeValues` has written it. */
  readonly values: Record<string, object>;
  /** Of the source `app`, once `connect` has created it. */
  writeKey = '';

  private constructor(cluster: Cluster, values: Record<string, object>) {
    this.cluster = cluster;
    this.values = values;
  }

  /** Starts what the release needs, and writes `values.yaml`. */
  static async prepare(): Promise<Release> {
    const cluster = await Cluster.open();
    await cluster.startKafka();
    const receivers = await cluster.startReceiver();
    const clients = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'clients' } } };
    const small = { resources: { requests: { cpu: '20m' } } };
    const documented = valuesIn('infra/chart/README.md');
    const release = new Release(cluster, {
      ...documented,
      settings: {
        ...documented['settings'],
        TAILRACE_PARTITIONS: 6,
        TAILRACE_ALLOW_PRIVATE_NETWORKS: receivers
          .map((address) => address.replace(/\.\d+\.\d+$/, '.0.0/16'))
          .join(','),
      },
      networkPolicy: { ingestClients: [clients], receivers: [clients] },
      ...Object.fromEntries([...services, 'jobs'].map((name) => [name, small])),
    });
    await release.writeValues();
    return release;
  }

  /** Follows Prepare and Install, in a namespace that takes restricted pods alone. Resolves with the output of the latter. */
  async install(): Promise<string> {
    await this.follow('Prepare');
    const restricted = ['enforce', 'warn'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
    await this.cluster.kubectl('label', 'namespace', 'events', ...restricted);
    const out = await this.follow('Install');
    await this.settled();
    return out;
  }

  /** Follows the section about the first webhook, with the receiver of the cluster. */
  async connect(): Promise<void> {
    const [createSource = '', createDestination = ''] = commandsOf('Send the first webhook');
    const created = await this.callApi(`${createSource} --output json`);
    ({
      writeKeys: [this.writeKey],
    } = JSON.parse(created) as { writeKeys: [string] });
    await this.callApi(createDestination.replace('<url>', 'http://receiver.clients'));
    await this.underLoad();
  }

  async writeValues(): Promise<void> {
    await writeFile(path.join(this.cluster.folder, 'values.yaml'), stringify(this.values));
  }

  /** Resolves when all workloads of a namespace have the pods of their last change, and all are ready. */
  async settled(namespace = 'events'): Promise<void> {
    const { cluster } = this;
    const workloads = await cluster.kubectl('get', 'deployments,statefulsets', '-n', namespace, '-o', 'name');
    for (const workload of workloads.trimEnd().split('\n')) {
      await cluster.kubectl('rollout', 'status', '-n', namespace, workload, '--timeout=300s');
    }
  }

  async upgrade(settings = ''): Promise<void> {
    await this.cluster.shell(settings === '' ? upgradeCommand : `${upgradeCommand} --set ${settings}`);
    await this.settled();
  }

  /** As that of the cluster. */
  underLoad(act: () => Promise<unknown> = () => Promise.resolve()): Promise<void> {
    return this.cluster.underLoad(this.writeKey, act);
  }

  /** Runs the commands of a section, with each placeholder replaced, and resolves with what they write. */
  async follow(title: string, placeholders: Readonly<Record<string, string>> = {}): Promise<string> {
    const commands = commandsOf(title).filter(
      (command) => !elsewhere.test(command) && !/^export |port-forward/.test(command),
    );
    assert.ok(commands.length > 0, `the handbook has no commands for: ${title}`);
    let out = '';
    for (const command of commands) {
      const filled = command.replaceAll(
        /<(\w+)>/g,
        (placeholder, name: string) => placeholders[name] ?? placeholder,
      );
      const isCall = /^npx |127\.0\.0\.1:8081/.test(filled);
      out += isCall ? await this.callApi(filled) : (await this.cluster.shell(filled)).out;
      if (command.startsWith('helm upgrade')) await this.settled();
    }
    return out;
  }

  /** Runs a command that asks control, as the section Install says. A forwarded port ends with its pod, so each command has one. */
  async callApi(command: string): Promise<string> {
    const [forward = ''] = commandsOf('Install').filter((each) => each.includes('port-forward'));
    await using _ = startProgram('sh', ['-c', `exec ${forward.replace(/ &$/, '')}`]);
    await eventually(() =>
      fetch('http://127.0.0.1:8081/').then(
        () => true,
        () => false,
      ),
    );
    const exported = commandsOf('Install').filter((each) => each.startsWith('export '));
    return (await this.cluster.shell([...exported, command].join('\n'))).out;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cluster[Symbol.asyncDispose]();
  }
}

const commandsOf = (title: string): readonly string[] => sections.get(title) ?? [];

/** The block of `values.yaml` in a document, or in one of its sections. */
export function valuesIn(file: string, title = ''): Record<string, object> {
  const text = readFileSync(path.join(root, file), 'utf8');
  const section = text.slice(title === '' ? 0 : text.indexOf(`\n## ${title}\n`));
  const [, literal = ''] = /```yaml\n(?:# values.yaml\n)?(.*?)```/s.exec(section) ?? [];
  return parse(literal) as Record<string, object>;
}
