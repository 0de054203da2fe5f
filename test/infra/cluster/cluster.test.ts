/**
 * The chart on a real cluster, as the handbook says: each command literally, and what a cluster does to pods. Events are sent all the
 * time, and each one that was accepted arrives. A test needs those before it.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { eventually } from '@tailrace/testing';
import type { Cluster, Pod } from '../../support/kubernetes/cluster.ts';
import { Release, services, upgradeCommand } from '../../support/kubernetes/release.ts';
import { notRun } from '../../support/not-run.ts';
import { pace } from '../../support/steadily.ts';
import { customResourceDefinitions } from '../../support/tools/schemas.ts';

const opened = new AsyncDisposableStack();
let release: Release;
let cluster: Cluster;

before(async () => {
  release = opened.use(await Release.prepare());
  ({ cluster } = release);
  await cluster.kubectl('apply', '--server-side', '-f', await customResourceDefinitions());
});
after(() => opened.disposeAsync());

async function secretOf(key: string): Promise<string> {
  const { data } = await cluster.get<{ data: Record<string, string> }>('secret/tailrace', '-n', 'events');
  return Buffer.from(data[key] ?? '', 'base64').toString();
}

describe('the commands of the handbook', () => {
  test('Prepare and Install: the test of the release sends an event, and it arrives', async () => {
    assert.match(await release.install(), /Phase:\s+Succeeded/);
  });

  test('Send the first webhook', () => release.connect());

  for (const title of ['Scale', 'Upgrade', 'Monitor']) {
    test(title, () => release.underLoad(() => release.follow(title)));
  }

  test('Add partitions', async () => {
    await release.underLoad(() => release.follow('Add partitions'));
    Object.assign(release.values['settings'] ?? {}, { TAILRACE_PARTITIONS: 48 });
    await release.writeValues();
  });

  test('Rotate keys', () =>
    release.underLoad(async () => {
      const [old, fresh] = [await secretOf('api-token'), randomBytes(24).toString('hex')];
      await release.follow('Rotate keys', { new: fresh, old });
      await cluster.shell(
        `kubectl -n events patch secret tailrace -p '{"stringData":{"api-token":"${fresh}"}}'`,
      );
      await release.upgrade();
    }));

  test('Rotate the secret key, and seal the queries of URLs', () =>
    release.underLoad(async () => {
      const [old, fresh] = [await secretOf('secret-key'), randomBytes(32).toString('hex')];
      await release.follow('Rotate the secret key', { new: fresh, old });
      await release.upgrade();
      assert.match(await release.follow('Seal the queries of URLs'), /"destinations":/);
    }));

  test('Find a lost event', async () => {
    const found = await release.follow('Find a lost event', { messageId: 'sender-1-0' });
    assert.match(found, /crm/);
  });

  test('Drain a bad destination', async () => {
    await release.follow('Drain a bad destination', { id: 'crm' });
    await release.callApi('npx tailrace enable destination crm');
  });

  test("Restore after a broker's loss", async () => {
    await release.follow("Restore after a broker's loss");
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
  release.underLoad(async () => {
    await cluster.shell(`${upgradeCommand} --set image.tag=9.9.9`);
    await eventually(
      () => cluster.pods('delivery'),
      (pods) =>
        pods.some(({ status }) => status.containerStatuses?.[0]?.state.waiting?.reason.includes('Pull')),
    );
    assert.ok((await cluster.pods('delivery')).some(isReady));
    await cluster.shell('helm rollback tailrace -n events');
    await release.settled();
  }));

test('replicas are added and removed', () =>
  release.underLoad(async () => {
    await release.upgrade(['ingest', 'router', 'delivery'].map((name) => `${name}.replicas=4`).join(','));
    await release.upgrade();
  }));

test('a drained node keeps a ready pod of each service, by the budgets', () =>
  release.underLoad(async () => {
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
    await release.settled();
  }));

for (const service of services) {
  test(`${service} starts again after it has used more memory than it may`, () =>
    release.underLoad(async () => {
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
  release.underLoad(async () => {
    const before = await restarts();
    await cluster.signalKafka('STOP');
    await pace(90_000);
    await cluster.signalKafka('CONT');
    await release.settled();
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
  await release.settled('second');
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
  await release.settled();
  await release.underLoad();
});
