/** Kafka's programs on the local JVM: the server, run by keeper.sh, and the tool that formats its storage. */
import { execFile, type ChildProcess } from 'node:child_process';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TailraceError } from '@tailrace/errors';
import { javaCommand, spawnKept, withoutOptimiser } from '../keeper.ts';
import type { ClassArchive } from './class-archive.ts';
import type { Environment } from './node.ts';

const kafkaDir = join(import.meta.dirname, '../..', 'kafka');

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

/** Starts the server, and resolves with its keeper. */
export async function spawnKafka(options: KafkaProcessOptions): Promise<ChildProcess> {
  const { env, dataDir, classPath, archive, keepData, quickStart, systemProperties = {} } = options;
  const logFile = join(dataDir, 'broker.log');
  await rename(logFile, `${logFile}.old`).catch(() => undefined);
  const args = [
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
  ];
  return spawnKept({ env, args, logFile, remove: keepData ? undefined : dataDir });
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
