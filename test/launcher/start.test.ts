/** `npm start` as a process: its output, its services and its files. */
import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { test } from 'node:test';
import { connectKafka } from '@tailrace/kafka';
import { sharedBroker } from '../support/kafka/broker.ts';
import { createHome, isListenedOn, type Home } from '../support/processes/npm-start.ts';
import { readAll, uniquePrefix } from '../support/kafka/topics.ts';

const ignore = (): void => undefined;
const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore };

async function sendTrack({ ingestUrl }: Home, event: string): Promise<void> {
  const response = await fetch(`${ingestUrl}/v1/track`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('wk_demo:')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ userId: 'u1', event }),
  });
  assert.equal(await response.text(), '{"success":true}');
}

async function storedEvents(brokers: string, topic: string): Promise<string[]> {
  const kafka = connectKafka({ brokers: brokers.split(','), clientId: 'start-test' }, quiet);
  const records = await readAll(kafka, topic);
  await kafka.close();
  return records.map(({ value }) => (JSON.parse(value?.toString() ?? '') as { event: string }).event);
}

test('npm start with its own broker', async (t) => {
  await using home = await createHome();
  const start = home.start({ CRM_PASSWORD: 'of the file of a user' });

  await t.test('starts every process and prints the URLs in its last line', async () => {
    const last = await start.ready();
    assert.ok(last.includes(`http://localhost:${home.ports.ingest}`));
    assert.ok(last.includes(`http://localhost:${home.ports.metrics}/metrics`));
    for (const name of ['kafka', 'topics', 'config', 'ingest', 'router', 'delivery', 'control', 'demo']) {
      assert.match(await start.line(new RegExp(`^${name} +ready`)), /ready/);
    }
  });

  await t.test('a call arrives at the demo receiver with a verified signature', async () => {
    await sendTrack(home, 'Order Completed');
    await start.line(/^demo +track "Order Completed" by u1 · signature verified/);
  });

  await t.test('every port is on loopback only', async () => {
    const { ingest, control, demo, kafka, metrics } = home.ports;
    const ports = [ingest, control, demo, kafka, metrics, metrics + 1, metrics + 2, metrics + 3];
    const listened = (host: string) => Promise.all(ports.map((port) => isListenedOn(port, host)));
    assert.ok(!(await listened('127.0.0.1')).includes(false));
    // Another address of this machine, which a server on all interfaces has too.
    assert.ok(!(await listened('127.0.0.2')).includes(true));
  });

  await t.test(
    'each process has the secrets that it needs, and no variable that it does not read',
    async () => {
      const secrets = ['TAILRACE_SECRET_KEY', 'TAILRACE_API_TOKEN', 'CRM_PASSWORD'];
      const found: Record<string, string[]> = {};
      for (const name of ['ingest', 'router', 'delivery', 'control', 'demo']) {
        const pid = /as process (\d+)/.exec(await start.line(new RegExp(`^${name} +ready`)))?.[1] ?? '';
        const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
        const names = environment.split('\0').map((line) => line.split('=', 1)[0] ?? '');
        assert.ok(names.includes('PATH'), name);
        found[name] = secrets.filter((secret) => names.includes(secret));
      }
      assert.deepEqual(found, {
        ingest: [],
        router: [],
        delivery: ['TAILRACE_SECRET_KEY'],
        control: ['TAILRACE_SECRET_KEY', 'TAILRACE_API_TOKEN'],
        demo: [],
      });
    },
  );

  await t.test('the metrics of each service answer', async () => {
    for (const offset of [0, 1, 2, 3]) {
      const response = await fetch(`http://127.0.0.1:${home.ports.metrics + offset}/metrics`);
      assert.equal(response.status, 200);
    }
  });

  await t.test(
    'the API answers to the token that was printed, which is kept for its owner alone',
    async () => {
      const token = /api-token\): (\w+)$/.exec(await start.line(/^control +API token/))?.[1] ?? '';
      const file = path.join(home.dataDir, 'api-token');
      assert.equal(await readFile(file, 'utf8'), token);
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      const response = await fetch(`http://127.0.0.1:${home.ports.control}/v1/destinations`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const { items } = (await response.json()) as { items: { settings: { sharedSecret: string } }[] };
      assert.deepEqual(
        items.map(({ settings }) => settings.sharedSecret),
        ['********'],
      );
    },
  );

  await t.test('a second start on the same data fails and reports the running one', async () => {
    const second = home.start();
    assert.equal(await second.exitCode, 1);
    await second.line(/^tailrace +Tailrace is already running on .*, as process \d+\. Stop it first/);
  });

  await t.test('a killed service is reported and restarted, and works', async () => {
    const from = start.lines.items.length;
    const pid = /as process (\d+)/.exec(await start.line(/^router +ready/))?.[1];
    process.kill(Number(pid), 'SIGKILL');
    await start.line(/^router +ended by SIGKILL, restarting in/, from);
    await start.line(/^router +is ready again/, from);
    await sendTrack(home, 'After the router died');
    await start.line(/^demo +track "After the router died" by u1 · signature verified/);
  });

  await t.test('a kill -9 ends every process', async () => {
    start.killHard();
    await start.exitCode;
  });

  const next = home.start();
  await t.test('the start after a kill -9 has the data of the start before, and works', async () => {
    await next.ready();
    const brokers = /ready at (\S+),/.exec(await next.line(/^kafka +ready at/))?.[1] ?? '';
    assert.deepEqual((await storedEvents(brokers, 'tailrace.events')).sort(), [
      'After the router died',
      'Order Completed',
    ]);
    await sendTrack(home, 'After the kill');
    await next.line(/^demo +track "After the kill" by u1 · signature verified/);
  });

  await t.test(
    'Ctrl-C stops everything, first the services that accept new work, and keeps the data',
    async () => {
      next.pressCtrlC();
      assert.ok([0, 130].includes(await next.exitCode));
      const stopped = next.lines.items.filter((line) => line.endsWith(' stopped'));
      assert.deepEqual(
        stopped.map((line) => line.split(' ')[0]),
        ['ingest', 'router', 'delivery', 'control', 'demo', 'kafka'],
      );
      await home.untilQuiet();
      assert.ok((await stat(path.join(home.dataDir, 'kafka'))).isDirectory());
    },
  );
});

test('all invalid settings are reported, and no process is started', async () => {
  await using home = await createHome();
  const start = home.start({ TAILRACE_INGEST_PORT: 'http', TAILRACE_RETRY_SCHEDULE: 'soon' });
  assert.equal(await start.exitCode, 1);
  await start.line(/TAILRACE_INGEST_PORT: invalid value "http"/);
  await start.line(/TAILRACE_RETRY_SCHEDULE: invalid value "soon"/);
  assert.ok(!start.lines.items.some((line) => line.startsWith('kafka')));
});

test('an invalid setting of one service stops the start and prints the message of the service', async () => {
  await using home = await createHome();
  const { brokers } = await sharedBroker();
  const start = home.start({
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: uniquePrefix(),
    // Only one service reads this setting; if two refused it, either could be reported first.
    TAILRACE_DELIVERY_CONCURRENCY: 'many',
  });
  assert.equal(await start.exitCode, 1);
  await start.line(/^delivery +TAILRACE_DELIVERY_CONCURRENCY: invalid value "many"/);
  await start.line(/delivery could not start: ended with exit code 78/);
  await home.untilQuiet();
});

test('every problem of a configuration file is reported with its position, and the start fails', async () => {
  await using home = await createHome();
  const { brokers } = await sharedBroker();
  const file = path.join(home.dataDir, 'mine.yaml');
  await writeFile(
    file,
    `sources:
  - id: web
    writeKeys: [wk_web]
destinations:
  - id: crm
    type: Webhooks
    sources: [web]
    settings:
      webhooks:
        - url: crm.example.com
        - url: https://crm.example.com/hook
          headers: { Host: elsewhere.example.com }
`,
  );
  const start = home.start({
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: uniquePrefix(),
    TAILRACE_CONFIG: file,
  });
  assert.equal(await start.exitCode, 1);
  await start.line(/mine\.yaml:10:\d+ .*webhooks\[0\]\.url/);
  await start.line(/mine\.yaml:12:\d+ .*webhooks\[1\]\.headers/);
});

test('a port in use is reported with the setting that changes it', async () => {
  await using home = await createHome();
  const squatter = createServer().listen(home.ports.ingest, '127.0.0.1');
  await once(squatter, 'listening');
  const start = home.start();
  assert.equal(await start.exitCode, 1);
  await start.line(new RegExp(`Port ${home.ports.ingest} of ingest is in use\\. .* TAILRACE_INGEST_PORT`));
  squatter.close();
  await once(squatter, 'close');
});

test('Ctrl-C during the start ends every process', async () => {
  await using home = await createHome();
  const start = home.start();
  await start.line(/^kafka +starting the broker/);
  start.pressCtrlC();
  assert.ok([0, 130].includes(await start.exitCode));
  await home.untilQuiet();
  assert.ok(!start.lines.items.some((line) => line.startsWith('Tailrace is ready')));
});
