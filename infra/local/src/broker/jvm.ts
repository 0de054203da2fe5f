/**
 * Apache Kafka on the local JVM: one node that is broker and controller, on loopback only.
 *
 * The data directory contains `log` (the data of Kafka), `server.properties` (written at every start, because ports
 * may change), `broker.log`, and `keeper`, which identifies the process that runs the JVM.
 */
import { execFile, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { BrokerNode, Environment, NodeOptions } from './node.ts';
import { startFailure } from '../failure.ts';
import { classArchive } from './class-archive.ts';
import { areJarsCached, resolveJars } from './jars.ts';
import { childOf, endKept, hasEnded, javaCommand, killGroup } from '../keeper.ts';
import { formatStorage, spawnKafka } from './kafka-process.ts';
import { identify, isAlive, readIdentity } from './lock.ts';
import { freePort, loopback } from '../ports.ts';
import { untilReady } from './probe.ts';
import { formatProperties, jvmProperties } from './properties.ts';

const minimumJava = 17;
/** Slightly longer than the keeper needs to stop the JVM when its parent is gone. */
const orphanTimeoutMs = 10_000;

const run = promisify(execFile);

/**
 * The programs that {@link startJvm} needs and that are missing, as a phrase. Undefined where nothing is missing.
 */
export async function missingForJvm(env: Environment): Promise<string | undefined> {
  const [java, maven] = await Promise.all([
    run(javaCommand(env), ['-version'], { env: { ...env } }).then(
      ({ stderr }) => parseJavaMajor(stderr),
      () => undefined,
    ),
    (await areJarsCached(env)) ||
      run('mvn', ['--version'], { env: { ...env } }).then(
        () => true,
        () => false,
      ),
  ]);
  const found = java === undefined ? '' : ` (found: Java ${java})`;
  const missing = [
    ...(java !== undefined && java >= minimumJava ? [] : [`Java ${minimumJava} or later${found}`]),
    ...(maven ? [] : ['Maven']),
  ];
  return missing.length > 0 ? missing.join(' and ') : undefined;
}

/** 17 of `openjdk version "17.0.15"`, 8 of `java version "1.8.0_402"`. */
export function parseJavaMajor(text: string): number | undefined {
  const match = /version "(?:1\.)?(\d+)/.exec(text);
  return match ? Number(match[1]) : undefined;
}

export async function startJvm(options: NodeOptions): Promise<BrokerNode> {
  const { env, dataDir, keepData, quickStart, changes, onProgress, onDeath, signal } = options;
  await outliveOrphan(dataDir);
  const classPath = await resolveJars(env, onProgress, signal);
  const archive = await classArchive(javaCommand(env), classPath);
  const port = await freePort(options.port);
  let keeper: ChildProcess | undefined;
  let expectedEnd = false;

  const start = async (): Promise<void> => {
    const properties = jvmProperties({
      logDir: join(dataDir, 'log'),
      port,
      controllerPort: await freePort(),
    });
    const all = changes ? changes.properties(properties) : properties;
    await writeFile(join(dataDir, 'server.properties'), formatProperties(all));
    if (!existsSync(join(dataDir, 'log', 'meta.properties'))) {
      onProgress('formatting its storage');
      const clusterId = randomBytes(16).toString('base64url');
      await formatStorage({ env, dataDir, classPath, archive, clusterId, users: changes?.users ?? {} });
    }
    signal.throwIfAborted();
    onProgress('starting the broker');
    expectedEnd = false;
    const started = (keeper = await spawnKafka({
      env,
      dataDir,
      classPath,
      archive,
      keepData,
      quickStart,
      systemProperties: changes?.systemProperties ?? {},
    }));
    await writeFile(join(dataDir, 'keeper'), JSON.stringify(await identify(started.pid ?? 0)));
    let ready = false;
    started.once('exit', (code, signalName) => {
      if (signalName !== null) killGroup(started);
      if (ready && !expectedEnd) onDeath(signalName ?? `exit code ${code ?? 0}`);
    });
    const outcome = await untilReady(loopback, port, () => signal.aborted || hasEnded(started));
    if (outcome !== 'ready') {
      await kill('SIGKILL');
      signal.throwIfAborted();
      throw await startFailure(outcome, join(dataDir, 'broker.log'));
    }
    ready = true;
    await archive.write(() => childOf(started));
  };

  const kill = async (signalName: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    expectedEnd = true;
    if (keeper) await endKept(keeper, signalName);
  };

  await start();
  return {
    kind: 'jvm',
    address: `${loopback}:${port}`,
    kill,
    restart: start,
    remove: () => Promise.resolve(),
  };
}

/**
 * Waits until the broker that an earlier process left running on this data has ended. Its keeper should end it;
 * otherwise it is killed here.
 */
async function outliveOrphan(dataDir: string): Promise<void> {
  const keeper = await readIdentity(join(dataDir, 'keeper'));
  if (keeper === undefined) return;
  const deadline = Date.now() + orphanTimeoutMs;
  while (await isAlive(keeper)) {
    if (Date.now() > deadline) process.kill(-keeper.pid, 'SIGKILL');
    await sleep(100);
  }
}
