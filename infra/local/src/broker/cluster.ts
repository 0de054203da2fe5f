/**
 * Several brokers on the local JVM, on loopback, for tests that need more than one. Each node is broker and
 * controller (KRaft, combined mode), and can be killed, frozen and restarted by its id.
 */
import { execFile, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { TailraceError } from '@tailrace/errors';
import type { Environment, Progress } from './node.ts';
import { startFailure } from '../failure.ts';
import { classArchive, type ClassArchive } from './class-archive.ts';
import { resolveJars } from './jars.ts';
import { missingForJvm } from './jvm.ts';
import { childOf, formatStorage, hasEnded, javaCommand, killGroup, spawnKafka } from './kafka-process.ts';
import { freePort, loopback } from '../ports.ts';
import { countBrokers } from './probe.ts';
import { clusterProperties, formatProperties, type Properties } from './properties.ts';

export interface ClusterOptions {
  readonly env: Environment;
  /** The number of nodes. Default 3. The ids are 1, 2, 3 and so on. */
  readonly size?: number;
  /** Overrides of the broker properties for production clusters, such as `default.replication.factor`. */
  readonly properties?: Properties;
  readonly onProgress?: Progress;
}

/** One node of a cluster, both broker and controller. */
export interface ClusterNode {
  readonly id: number;
  /** `host:port`, the same after every restart. */
  readonly address: string;
  /** The JVM's process id; undefined while it is down. */
  readonly pid: number | undefined;
  /** Ends it and resolves when it has ended. `SIGKILL`, the default, is a crash, `SIGTERM` a clean shutdown. */
  kill(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Starts it again after its end, on the same port and data; resolves when it takes part in the cluster again. */
  restart(): Promise<void>;
  /** Replaces the disk of a node that is down by an empty one. `restart()` then starts it with no data. */
  replaceDisk(): Promise<void>;
  /** SIGSTOP: its connections stay open and nothing answers on them, as of a machine that hangs. */
  freeze(): Promise<void>;
  /** SIGCONT. */
  thaw(): void;
}

export interface Cluster extends AsyncDisposable {
  /** Bootstrap servers: every node's address. */
  readonly brokers: readonly string[];
  readonly nodes: readonly ClusterNode[];
  /** The node with this id. */
  node(id: number): ClusterNode;
  /** Ends all nodes, frozen ones too, and removes their data. Safe to call twice. */
  stop(): Promise<void>;
}

/** Three JVMs that start together take a while on a small machine. */
const startTimeoutMs = 180_000;
const stopTimeoutMs = 30_000;
const freezeTimeoutMs = 5_000;
const pollMs = 100;
/** The last line of a start: the controllers have accepted the broker, and clients may use it. */
const startedLine = 'Kafka Server started';

const run = promisify(execFile);

/** Resolves when every node knows of all others. Fails with `local-start-failed`, and leaves nothing behind. */
export async function startCluster({
  env,
  size = 3,
  properties,
  onProgress = () => undefined,
}: ClusterOptions): Promise<Cluster> {
  const missing = await missingForJvm(env);
  if (missing !== undefined) {
    throw new TailraceError('local-start-failed', `A cluster of brokers needs ${missing}. Install it.`);
  }
  const classPath = await resolveJars(env, onProgress, new AbortController().signal);
  const archive = await classArchive(javaCommand(env), classPath);
  const clusterId = randomBytes(16).toString('base64url');
  const ids = Array.from({ length: size }, (_, index) => index + 1);
  const controllerPorts = new Map<number, number>();
  const nodes: RunningNode[] = [];
  for (const id of ids) controllerPorts.set(id, await freePort());
  for (const id of ids) {
    const port = await freePort();
    const dataDir = await mkdtemp(join(tmpdir(), `tailrace-cluster-${id}-`));
    const logDir = join(dataDir, 'log');
    nodes.push(
      new RunningNode({
        env,
        id,
        port,
        dataDir,
        logDir,
        classPath,
        archive,
        clusterId,
        properties: clusterProperties({
          id,
          port,
          controllerPorts,
          logDir,
          ...(properties && { more: properties }),
        }),
        // What is down or frozen is not waited for.
        peers: () => nodes.filter(({ serves }) => serves).length,
      }),
    );
  }
  const end = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.remove()));
  };
  let ended: Promise<void> | undefined;
  const stop = (): Promise<void> => (ended ??= end());
  try {
    onProgress(`starting ${size} brokers`);
    await Promise.all(nodes.map((node) => node.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    brokers: nodes.map(({ address }) => address),
    nodes,
    node(id) {
      const found = nodes.find((node) => node.id === id);
      if (found === undefined) throw new RangeError(`the cluster has no node ${id}`);
      return found;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

interface NodeSettings {
  readonly env: Environment;
  readonly id: number;
  readonly port: number;
  readonly dataDir: string;
  /** The folder in `dataDir` with the records of the node. */
  readonly logDir: string;
  readonly classPath: string;
  readonly archive: ClassArchive;
  readonly clusterId: string;
  readonly properties: Properties;
  /** How many nodes serve clients now, this one included. */
  readonly peers: () => number;
}

class RunningNode implements ClusterNode {
  readonly #settings: NodeSettings;
  #keeper: ChildProcess | undefined;
  #pid: number | undefined;
  #frozen = false;

  constructor(settings: NodeSettings) {
    this.#settings = settings;
  }

  get id(): number {
    return this.#settings.id;
  }

  get address(): string {
    return `${loopback}:${this.#settings.port}`;
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  get serves(): boolean {
    return this.#keeper !== undefined && !this.#frozen;
  }

  async start(): Promise<void> {
    const { dataDir, properties } = this.#settings;
    await writeFile(join(dataDir, 'server.properties'), formatProperties(properties));
    await this.#format();
    await this.restart();
  }

  async replaceDisk(): Promise<void> {
    if (this.#keeper !== undefined) throw new Error(`node ${this.id} still runs`);
    await rm(this.#settings.logDir, { recursive: true, force: true });
    await this.#format();
  }

  async #format(): Promise<void> {
    const { env, dataDir, classPath, archive, clusterId } = this.#settings;
    await formatStorage({ env, dataDir, classPath, archive, clusterId });
  }

  async restart(): Promise<void> {
    if (this.#keeper !== undefined) throw new Error(`node ${this.id} still runs`);
    const { env, dataDir, classPath, archive } = this.#settings;
    const keeper = await spawnKafka({ env, dataDir, classPath, archive, keepData: false, quickStart: true });
    this.#keeper = keeper;
    keeper.once('exit', () => {
      if (this.#keeper === keeper) this.#keeper = this.#pid = undefined;
    });
    const logFile = join(dataDir, 'broker.log');
    const deadline = Date.now() + startTimeoutMs;
    while (!(await this.#isReady(logFile))) {
      if (!hasEnded(keeper) && Date.now() < deadline) {
        await sleep(pollMs);
        continue;
      }
      const failure = await startFailure(hasEnded(keeper) ? 'it ended' : 'it does not respond', logFile);
      await this.kill();
      throw failure;
    }
    this.#pid = await childOf(keeper);
  }

  async #isReady(logFile: string): Promise<boolean> {
    const log = await readFile(logFile, 'utf8').catch(() => '');
    if (!log.includes(startedLine)) return false;
    return (await countBrokers(loopback, this.#settings.port)) >= this.#settings.peers();
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const keeper = this.#keeper;
    if (keeper === undefined) return;
    if (signal === 'SIGTERM') this.thaw();
    keeper.ref();
    const ended = hasEnded(keeper) ? undefined : once(keeper, 'exit');
    keeper.stdin?.write(`${signal.slice('SIG'.length)}\n`);
    const timer = setTimeout(killGroup, stopTimeoutMs, keeper);
    await ended;
    clearTimeout(timer);
    this.#keeper = this.#pid = undefined;
    this.#frozen = false;
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.#settings.dataDir, { recursive: true, force: true });
  }

  async freeze(): Promise<void> {
    const pid = this.#running();
    process.kill(pid, 'SIGSTOP');
    this.#frozen = true;
    const deadline = Date.now() + freezeTimeoutMs;
    while (!(await isStopped(pid))) {
      if (Date.now() > deadline) throw new Error(`node ${this.id} does not stop`);
      await sleep(10);
    }
  }

  thaw(): void {
    if (!this.#frozen) return;
    process.kill(this.#running(), 'SIGCONT');
    this.#frozen = false;
  }

  #running(): number {
    if (this.#pid === undefined) throw new Error(`node ${this.id} is down`);
    return this.#pid;
  }
}

async function isStopped(pid: number): Promise<boolean> {
  const { stdout } = await run('ps', ['-o', 'stat=', '-p', String(pid)]);
  return stdout.trim().startsWith('T');
}
