/** Kafka's programs on the local JVM: the server, run by keeper.sh, and the tool that formats its storage. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, rename } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TailraceError } from '@tailrace/errors';
import type { ClassArchive } from './class-archive.ts';
import type { Environment } from './node.ts';

const kafkaDir = join(import.meta.dirname, '../..', 'kafka');

/** JVM options that reduce the cost of starting, for processes that run briefly or do little. */
export const withoutOptimiser = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

const run = promisify(execFile);

export interface KafkaProcessOptions {
  readonly env: Environment;
  /** Contains `server.properties`. `broker.log` is written there. */
  readonly dataDir: string;
  /** The result of {@link resolveJars} of jars.ts. */
  readonly classPath: string;
  readonly archive: ClassArchive;
  /** Whether the keeper keeps the directory when its parent process is gone. */
  readonly keepData: boolean;
  readonly quickStart: boolean;
  /** Properties of the JVM. */
  readonly systemProperties?: Readonly<Record<string, string>>;
}

/**
 * Starts the server, and resolves with its keeper. A line on the keeper's standard input is the name of a signal
 * for the JVM. The keeper ends when the JVM has ended. It has its own process group.
 */
export async function spawnKafka(options: KafkaProcessOptions): Promise<ChildProcess> {
  const { env, dataDir, classPath, archive, keepData, quickStart, systemProperties = {} } = options;
  const logFile = join(dataDir, 'broker.log');
  await rename(logFile, `${logFile}.old`).catch(() => undefined);
  const log = await open(logFile, 'a');
  try {
    const keeper = spawn(
      'sh',
      [
        join(kafkaDir, 'keeper.sh'),
        keepData ? '' : dataDir,
        javaCommand(env),
        ...archive.options(),
        ...(quickStart ? withoutOptimiser : []),
        '-Xms256m',
        '-Xmx768m',
        '-XX:+ExitOnOutOfMemoryError',
        '-Djava.awt.headless=true',
        `-Dlog4j2.configurationFile=${join(kafkaDir, 'log4j2.properties')}`,
        `-Dtailrace.broker.log=${logFile}`,
        ...Object.entries(systemProperties).map(([name, value]) => `-D${name}=${value}`),
        '-cp',
        classPath,
        'kafka.Kafka',
        join(dataDir, 'server.properties'),
      ],
      { env: { ...env }, detached: true, stdio: ['pipe', log.fd, log.fd] },
    );
    keeper.stdin?.on('error', () => undefined);
    await once(keeper, 'spawn');
    // The parent process can end without stopping the broker. Then the keeper stops it.
    keeper.unref();
    (keeper.stdin as Socket).unref();
    return keeper;
  } finally {
    await log.close();
  }
}

/** Formats the storage of `server.properties` in `dataDir`, unless it is formatted already. */
export async function formatStorage(options: {
  readonly env: Environment;
  readonly dataDir: string;
  readonly classPath: string;
  readonly archive: ClassArchive;
  /** The cluster id, the same for all nodes: 16 bytes in base64url. */
  readonly clusterId: string;
  /** Passwords by user name, for SCRAM. */
  readonly users?: Readonly<Record<string, string>>;
}): Promise<void> {
  const { env, dataDir, classPath, archive, clusterId, users = {} } = options;
  // Joined by `=`, because an id may begin with a dash.
  const tool = ['kafka.tools.StorageTool', 'format', '--ignore-formatted', `--cluster-id=${clusterId}`];
  const credentials = Object.entries(users).flatMap(([name, password]) =>
    [256, 512].flatMap((bits) => ['--add-scram', `SCRAM-SHA-${bits}=[name=${name},password=${password}]`]),
  );
  const args = ['-c', join(dataDir, 'server.properties'), ...credentials];
  const flags = [...archive.options(), ...withoutOptimiser, '-Dlog4j2.level=ERROR'];
  try {
    await run(javaCommand(env), [...flags, '-cp', classPath, ...tool, ...args], { env: { ...env } });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new TailraceError(
      'local-start-failed',
      `Apache Kafka's storage in ${dataDir} could not be formatted:\n${stdout}${stderr}`,
    );
  }
}

/** The process id of the keeper's JVM. Its other child is the shell that watches for signals. */
export async function childOf(keeper: ChildProcess): Promise<number> {
  const { stdout } = await run('pgrep', ['-P', String(keeper.pid ?? 0), 'java']);
  return Number(stdout.trim());
}

export function javaCommand(env: Environment): string {
  const home = env['JAVA_HOME'];
  return home === undefined || home === '' ? 'java' : join(home, 'bin', 'java');
}

export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Kills a keeper and its JVM with SIGKILL. The JVM is left alone where its keeper was killed before. */
export function killGroup(keeper: ChildProcess): void {
  try {
    process.kill(-(keeper.pid ?? 0), 'SIGKILL');
  } catch {
    // Both have ended already.
  }
}
