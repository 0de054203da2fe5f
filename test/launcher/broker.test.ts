/** The local broker of `npm start` and the tests: start, failure and restart. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { connectKafka, type Kafka } from '@tailrace/kafka';
import { eventually } from '@tailrace/testing';
import { startOwnBroker, type Broker, type OwnBroker } from '@tailrace/local';
import { resolveJars } from '../../infra/local/src/broker/jars.ts';
import { isAlive, readIdentity, type ProcessIdentity } from '../../infra/local/src/broker/lock.ts';
import { discardData, ownBroker } from '../support/kafka/broker.ts';
import { readAll } from '../support/kafka/topics.ts';

const ignore = (): void => undefined;
const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const topic = { name: 'kept', partitions: 1, config: {} };
/** These tests are about the JVM, so Docker is not used. */
const jvm = { quickStart: true, env: { ...process.env, DOCKER_HOST: 'unix:///nowhere/docker.sock' } };

function client({ brokers }: Broker): Kafka & AsyncDisposable {
  const kafka = connectKafka({ brokers, clientId: 'broker-test' }, quiet);
  return Object.assign(kafka, { [Symbol.asyncDispose]: () => kafka.close() });
}

async function writeOne(broker: OwnBroker, value: string): Promise<void> {
  await using kafka = client(broker);
  await kafka.ensureTopics([topic]);
  await kafka.publisher().publish({ topic: topic.name, key: 'k', value });
}

async function readValues(broker: OwnBroker): Promise<(string | undefined)[]> {
  await using kafka = client(broker);
  return (await readAll(kafka, topic.name)).map(({ value }) => value?.toString());
}

async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const dir = await mkdtemp(path.join(tmpdir(), 'tailrace-broker-test-'));
  return { path: dir, [Symbol.asyncDispose]: () => discardData(dir) };
}

async function keeperOf(dataDir: string): Promise<ProcessIdentity> {
  const keeper = await readIdentity(path.join(dataDir, 'keeper'));
  assert.ok(keeper);
  return keeper;
}

test('the stop of a temporary broker leaves no files', async () => {
  await using dir = await temporaryDirectory();
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = dir.path;
  const broker = await ownBroker();
  if (TMPDIR === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = TMPDIR;
  await broker.stop();
  await broker.stop();
  const left = (await readdir(dir.path)).filter((name) => name.startsWith('tailrace-'));
  assert.deepEqual(left, []);
});

test('a broker on kept data', async (t) => {
  await using dir = await temporaryDirectory();
  const starter = `
    import { startOwnBroker } from '@tailrace/local';
    const broker = await startOwnBroker({ env: process.env, quickStart: true, dataDir: ${JSON.stringify(dir.path)} });
    console.log(broker.brokers[0]);
    process.stdin.resume();`;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', starter], {
    cwd: import.meta.dirname,
    env: jvm.env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(createInterface({ input: parent.stdout }), 'line');
  const keeper = await keeperOf(dir.path);
  assert.ok(await isAlive(keeper));
  parent.kill('SIGKILL');
  await once(parent, 'exit');

  const death = Promise.withResolvers<string>();
  await using broker = await startOwnBroker({ ...jvm, dataDir: dir.path, onDeath: death.resolve });
  const { brokers } = broker;
  await t.test(
    'ends with the process that started it, even after SIGKILL, and the next start works',
    async () => {
      assert.ok(!(await isAlive(keeper)));
      await writeOne(broker, 'kept');
    },
  );

  await t.test('is the only one on its data', async () => {
    await assert.rejects(startOwnBroker({ ...jvm, dataDir: dir.path }), {
      code: 'local-start-failed',
      message: `The broker's data in ${dir.path} is in use by the running process ${process.pid}. Stop that process first.`,
    });
  });

  await t.test(
    'reports its death, a killed keeper leaves no JVM behind, and acknowledged records survive',
    async () => {
      process.kill((await keeperOf(dir.path)).pid, 'SIGKILL');
      assert.equal(await death.promise, 'SIGKILL');
      await broker.restart();
      assert.deepEqual(broker.brokers, brokers);
      assert.deepEqual(await readValues(broker), ['kept']);
    },
  );

  await t.test('is found by the next broker, also on another port', async () => {
    await broker.stop();
    const port = Number(brokers[0]?.split(':')[1]);
    const squatter = createServer().listen(port, '127.0.0.1');
    await once(squatter, 'listening');
    await using next = await startOwnBroker({ ...jvm, dataDir: dir.path, port });
    assert.notDeepEqual(next.brokers, brokers);
    assert.deepEqual(await readValues(next), ['kept']);
    squatter.close();
  });
});

test('a broker that fails to start reports the end of its log', async () => {
  await using dir = await temporaryDirectory();
  await mkdir(path.join(dir.path, 'log'));
  await writeFile(path.join(dir.path, 'log', 'meta.properties'), 'version=1\nnode.id=7\ncluster.id=x\n');
  await assert.rejects(startOwnBroker({ ...jvm, dataDir: dir.path }), {
    code: 'local-start-failed',
    message: /Apache Kafka did not start: it ended\. The end of .*broker\.log:\n[^]*node id 7/,
  });
});

test('a cancelled start stops the processes that it started', async () => {
  await using dir = await temporaryDirectory();
  const giveUp = new AbortController();
  const starting = startOwnBroker({
    ...jvm,
    dataDir: dir.path,
    signal: giveUp.signal,
  });
  const rejected = assert.rejects(starting, /given up/);
  const keeper = await eventually(
    () => readIdentity(path.join(dir.path, 'keeper')).catch(() => undefined),
    (found) => found !== undefined,
  );
  assert.ok(keeper);
  giveUp.abort(new Error('given up'));
  await rejected;
  assert.ok(!(await isAlive(keeper)));
  assert.ok(!(await readdir(dir.path)).includes('lock'));
});

test('two concurrent first starts share one complete set of verified jars', async () => {
  await using dir = await temporaryDirectory();
  const env = { ...jvm.env, XDG_CACHE_HOME: dir.path };
  const start = (): Promise<string> => resolveJars(env, ignore, new AbortController().signal);
  const [one, other] = await Promise.all([start(), start()]);
  assert.equal(one, other);
  const caches = await readdir(path.join(dir.path, 'tailrace'));
  assert.equal(caches.length, 1);
  assert.match(caches[0] ?? '', /^kafka-4\.3\.1-[0-9a-f]{12}$/);
});
