/**
 * The chart on a real cluster, as the handbook says: each command literally, and what a cluster does to pods. Events are sent all the
 * time, and each one that was accepted arrives. A test needs those before it.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { parse, stringify } from 'yaml';
import { root } from '../../support/docker/images.ts';
import { Cluster, type Pod } from '../../support/kubernetes/cluster.ts';
import { handbook } from '../../support/kubernetes/handbook.ts';
import { notRun } from '../../support/not-run.ts';
import { startProgram } from '../../support/processes/program.ts';
import { pace } from '../../support/steadily.ts';
import { customResourceDefinitions } from '../../support/tools/schemas.ts';

const services = ['ingest', 'router', 'delivery', 'control'] as const;
const sections = handbook();
const upgrade = 'helm upgrade tailrace infra/chart -n events -f values.yaml';

const opened = new AsyncDisposableStack();
let cluster: Cluster;
let values: Record<string, object>;
let writeKey = '';

before(async () => {
  cluster = opened.use(await Cluster.open());
  await cluster.kubectl('apply', '--server-side', '-f', await customResourceDefinitions());
  await cluster.startKafka();
  const receivers = await cluster.startReceiver();
  const clients = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'clients' } } };
  const small = { resources: { requests: { cpu: '20m' } } };
  const [, literal = ''] =
    /```yaml\n# values.yaml\n(.*?)```/s.exec(
      readFileSync(path.join(root, 'infra/chart/README.md'), 'utf8'),
    ) ?? [];
  const documented = parse(literal) as Record<string, object>;
  values = {
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
  };
  await writeValues();
});
after(() => opened.disposeAsync());

function writeValues(): Promise<void> {
  return writeFile(path.join(cluster.folder, 'values.yaml'), stringify(values));
}

/** Resolves when all workloads of a namespace have the pods of their last change, and all are ready. */
async function settled(namespace = 'events'): Promise<void> {
  const workloads = await cluster.kubectl('get', 'deployments,statefulsets', '-n', namespace, '-o', 'name');
  for (const workload of workloads.trimEnd().split('\n')) {
    await cluster.kubectl('rollout', 'status', '-n', namespace, workload, '--timeout=300s');
  }
}

const upgraded = async (settings = ''): Promise<void> => {
  await cluster.shell(settings === '' ? upgrade : `${upgrade} --set ${settings}`);
  await settled();
};

async function secretOf(key: string): Promise<string> {
  const { data } = await cluster.get<{ data: Record<string, string> }>('secret/tailrace', '-n', 'events');
  return Buffer.from(data[key] ?? '', 'base64').toString();
}

/** Needs a way from this machine to the brokers, or a registry. live/handbook.test.ts and live/release.test.ts have them. */
const elsewhere =
  /^for image|^npx tailrace (why .*--around|recover|config)|KAFKA_BROKERS=new|^node infra\/release/;

const commandsOf = (title: string): readonly string[] => sections.get(title) ?? [];

/** Runs the commands of a section, with each placeholder replaced, and resolves with what they write. */
async function follow(title: string, placeholders: Readonly<Record<string, string>> = {}): Promise<string> {
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
    out += /^(npx|curl) /.test(filled) ? await callApi(filled) : (await cluster.shell(filled)).out;
    if (command.startsWith('helm upgrade')) await settled();
  }
  return out;
}

/** Runs a command that asks control, as the section Install says. A forwarded port ends with its pod, so each command has one. */
async function callApi(command: string): Promise<string> {
  const [forward = ''] = commandsOf('Install').filter((each) => each.includes('port-forward'));
  await using _ = startProgram('sh', ['-c', `exec ${forward.replace(/ &$/, '')}`]);
  await eventually(() =>
    fetch('http://127.0.0.1:8081/').then(
      () => true,
      () => false,
    ),
  );
  const exported = commandsOf('Install').filter((each) => each.startsWith('export '));
  return (await cluster.shell([...exported, command].join('\n'))).out;
}

describe('the commands of the handbook', () => {
  test('Prepare and Install: the test of the release sends an event, and it arrives', async () => {
    await follow('Prepare');
    const restricted = ['enforce', 'warn'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
    await cluster.kubectl('label', 'namespace', 'events', ...restricted);
    const out = await follow('Install');
    assert.match(out, /Phase:\s+Succeeded/);
    await settled();
  });

  test('the first webhook', async () => {
    const source = await callApi('npx tailrace create source --id app --output json');
    ({
      writeKeys: [writeKey],
    } = JSON.parse(source) as { writeKeys: [string] });
    await callApi('npx tailrace create destination --id crm --url http://receiver.clients --source app');
    await cluster.underLoad(writeKey, () => Promise.resolve());
  });

  for (const title of ['Scale', 'Put it behind a proxy', 'Upgrade', 'Monitor']) {
    test(title, () => cluster.underLoad(writeKey, async () => void (await follow(title))));
  }

  test('Add partitions', async () => {
    await cluster.underLoad(writeKey, async () => void (await follow('Add partitions')));
    Object.assign(values['settings'] ?? {}, { TAILRACE_PARTITIONS: 48 });
    await writeValues();
  });

  test('Rotate keys', () =>
    cluster.underLoad(writeKey, async () => {
      const [old, fresh] = [await secretOf('api-token'), randomBytes(24).toString('hex')];
      await follow('Rotate keys', { new: fresh, old });
      await cluster.shell(
        `kubectl -n events patch secret tailrace -p '{"stringData":{"api-token":"${fresh}"}}'`,
      );
      await upgraded();
    }));

  test('Rotate the secret key, and seal the queries of URLs', () =>
    cluster.underLoad(writeKey, async () => {
      const [old, fresh] = [await secretOf('secret-key'), randomBytes(32).toString('hex')];
      await follow('Rotate the secret key', { new: fresh, old });
      await upgraded();
      assert.match(await follow('Seal the queries of URLs'), /"destinations":/);
    }));

  test('Find a lost event', async () => {
    const found = await follow('Find a lost event', { messageId: 'sender-1-0' });
    assert.match(found, /crm/);
  });

  test('Drain a bad destination', async () => {
    await follow('Drain a bad destination', { id: 'crm' });
    await callApi('npx tailrace enable destination crm');
  });

  test("Restore after a broker's loss", async () => {
    await follow("Restore after a broker's loss");
    await cluster.kubectl(
      'wait',
      '--for=condition=Complete',
      '-n',
      'events',
      'job/doctor-2',
      '--timeout=120s',
    );
  });
});

/** How often each pod was restarted. */
async function restarts(): Promise<Record<string, number>> {
  const pods = (await Promise.all(services.map((name) => cluster.pods(name)))).flat();
  return Object.fromEntries(
    pods.map(({ metadata, status }) => [metadata.name, status.containerStatuses?.[0]?.restartCount ?? 0]),
  );
}

const isReady = ({ status }: Pod): boolean => status.containerStatuses?.[0]?.ready === true;

test('an image that does not exist stops the upgrade, the pods before it work on, and a rollback ends it', () =>
  cluster.underLoad(writeKey, async () => {
    await cluster.shell(`${upgrade} --set image.tag=9.9.9`);
    await eventually(
      () => cluster.pods('delivery'),
      (pods) =>
        pods.some(({ status }) => status.containerStatuses?.[0]?.state.waiting?.reason.includes('Pull')),
    );
    assert.ok((await cluster.pods('delivery')).some(isReady));
    await cluster.shell('helm rollback tailrace -n events');
    await settled();
  }));

test('replicas are added and removed', () =>
  cluster.underLoad(writeKey, async () => {
    await upgraded(['ingest', 'router', 'delivery'].map((name) => `${name}.replicas=4`).join(','));
    await upgraded();
  }));

test('a drained node keeps a ready pod of each service, by the budgets', () =>
  cluster.underLoad(writeKey, async () => {
    const [pod] = await cluster.pods('ingest');
    const node = pod?.spec.nodeName ?? '';
    const options =
      '--ignore-daemonsets --delete-emptydir-data --pod-selector=app.kubernetes.io/instance=tailrace --timeout=30s';
    // Where there is no other node, new pods find no place, and the budgets refuse the others.
    const draining = cluster.shell(`kubectl drain ${node} ${options}`).then(
      () => 'over',
      () => 'over',
    );
    do {
      for (const service of ['ingest', 'router', 'delivery']) {
        assert.ok((await cluster.pods(service)).some(isReady), `${service} has no ready pod`);
      }
    } while ((await Promise.race([draining, pace(500)])) !== 'over');
    await cluster.shell(`kubectl uncordon ${node}`);
    await settled();
  }));

for (const service of services) {
  test(`${service} starts again after it has used more memory than it may`, () =>
    cluster.underLoad(writeKey, async () => {
      const [pod] = await cluster.pods(service);
      const name = pod?.metadata.name ?? '';
      const before = await restarts();
      // The kernel ends the largest process, so many small ones take the memory.
      const script =
        "fs.writeFileSync('/proc/1/oom_score_adj', '1000'); for (let i = 0; i < 64; i += 1) child_process.spawn(process.execPath, " +
        "['--eval', 'globalThis.taken = Buffer.alloc(2 ** 24, 1); setInterval(() => 0, 1e9)'])";
      await cluster.evaluate('events', name, script).catch(() => undefined);
      const again = await eventually(
        async () => (await cluster.pods(service)).find(({ metadata }) => metadata.name === name),
        (found) =>
          found !== undefined &&
          isReady(found) &&
          found.status.containerStatuses?.[0]?.restartCount !== before[name],
      );
      assert.equal(again?.status.containerStatuses?.[0]?.lastState.terminated?.reason, 'OOMKilled');
    }));
}

test('no probe ends a pod while the broker does not answer for longer than probes are patient', () =>
  cluster.underLoad(writeKey, async () => {
    const before = await restarts();
    await cluster.signalKafka('STOP');
    await pace(90_000);
    await cluster.signalKafka('CONT');
    await settled();
    assert.deepEqual(await restarts(), before);
  }));

test('a second release waits where it has the prefix of the first, and works with its own', async () => {
  const install = 'helm install -n second -f values.yaml';
  const secret = await cluster.get<{ data: object }>('secret/tailrace', '-n', 'events');
  await cluster.apply('second', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'tailrace' },
    data: secret.data,
  });
  await cluster.shell(`${install} tailrace infra/chart`);
  await eventually(
    async () => {
      const [pod] = await cluster.pods('router', 'second');
      return pod ? cluster.kubectl('logs', '-n', 'second', pod.metadata.name).catch(() => '') : '';
    },
    (log) => log.includes('events/tailrace'),
  );
  assert.ok(!(await cluster.pods('router', 'second')).some(isReady));
  await cluster.shell('helm uninstall tailrace -n second');
  await cluster.shell(`${install} other infra/chart`);
  await settled('second');
  await cluster.shell('helm uninstall other -n second');
});

test('network policies let only named clients in, and nothing out to the cluster', async (t) => {
  const ask = (host: string): string =>
    `fetch('http://${host}', { signal: AbortSignal.timeout(5_000) }).then((answer) => console.log(answer.status), () => console.log('unreachable'))`;
  const image = 'registry.example.com/team/tailrace-cli:0.1.0';
  await cluster.kubectl(
    'run',
    'stranger',
    '-n',
    'strangers',
    `--image=${image}`,
    '--command',
    '--',
    'sleep',
    'infinity',
  );
  await cluster.kubectl('wait', '--for=condition=Ready', '-n', 'strangers', 'pod/stranger', '--timeout=120s');
  const ingest = 'tailrace-ingest.events/v1/track';
  if ((await cluster.evaluate('strangers', 'stranger', ask(ingest))).trim() !== 'unreachable') {
    notRun(t, 'the network plugin of the cluster enforces no policies');
    return;
  }
  assert.match(await cluster.evaluate('clients', 'receiver', ask(ingest)), /^\d+/);
  const [delivery] = await cluster.pods('delivery');
  for (const host of ['169.254.169.254', 'tailrace-control.events', 'kubernetes.default']) {
    assert.equal(
      (await cluster.evaluate('events', delivery?.metadata.name ?? '', ask(host))).trim(),
      'unreachable',
      host,
    );
  }
});

test('the volume of control, the Secret and the topics stay when the release is uninstalled', async () => {
  await cluster.shell('helm uninstall tailrace -n events');
  await cluster.kubectl('delete', 'job/doctor-2', '-n', 'events', '--ignore-not-found');
  await cluster.kubectl('wait', '--for=delete', 'pods', '--all', '-n', 'events', '--timeout=120s');
  const left = (
    await cluster.kubectl('get', 'all,pvc,pdb,networkpolicy,configmap,secret', '-n', 'events', '-o', 'name')
  ).trimEnd();
  const own = left.split('\n').filter((name) => !name.includes('kube-root-ca'));
  assert.deepEqual(own.sort(), ['persistentvolumeclaim/data-tailrace-control-0', 'secret/tailrace']);
  await cluster.shell('helm install tailrace infra/chart -n events -f values.yaml');
  await settled();
  await cluster.underLoad(writeKey, () => Promise.resolve());
});
