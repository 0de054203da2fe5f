/**
 * Several brokers for one test, on the local JVM and on loopback: replication, in-sync minima, a broker that hangs or dies while
 * others continue. Each node is broker and controller (KRaft); they take some seconds to start.
 *
 *     await using cluster = await ownCluster();
 *     await cluster.node(2).freeze(); // SIGSTOP; thaw() is SIGCONT
 *     await cluster.node(3).kill();   // SIGKILL; restart() starts it again with the same port and data
 *
 * With a network, the nodes reach each other through it, and so do clients that know the nodes by name.
 */
import { execFile, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@tailrace/local';
import { eventually } from '@tailrace/testing';
import { classArchive, type ClassArchive } from '../../../infra/local/src/broker/class-archive.ts';
import { resolveJars } from '../../../infra/local/src/broker/jars.ts';
import { missingForJvm } from '../../../infra/local/src/broker/jvm.ts';
import { formatStorage, spawnKafka } from '../../../infra/local/src/broker/kafka-process.ts';
import { countBrokers } from '../../../infra/local/src/broker/probe.ts';
import {
  formatProperties,
  jvmProperties,
  type Properties,
} from '../../../infra/local/src/broker/properties.ts';
import { startFailure } from '../../../infra/local/src/failure.ts';
import { childOf, endKept, hasEnded, javaCommand } from '../../../infra/local/src/keeper.ts';
import { loopback } from '../../../infra/local/src/ports.ts';
import type { Network } from '../network/network.ts';

const { env } = process;

interface ClusterOptions {
  /** The number of nodes. Default 3. The ids are 1, 2, 3 and so on. */
  readonly size?: number;
  /** Overrides of the broker properties for production clusters, such as `default.replication.factor`. */
  readonly properties?: Properties;
  /** Its parties include `broker-1`, `broker-2` and so on, which are also the names of the nodes. */
  readonly network?: Network;
  /** Added to the environment of a node. */
  readonly envOf?: (id: number) => Readonly<Record<string, string>> | undefined;
}

/** One node of a cluster, both broker and controller. */
export interface ClusterNode {
  readonly id: number;
  /** `host:port`, the same after every restart. With a network: past it, for the test. */
  readonly address: string;
  /** The port that its name listens on in the network. */
  readonly namedPort: number;
  /** The JVM's process id; undefined while it is down. */
  readonly pid: number | undefined;
  /** The end of its log. */
  lastLines(): Promise<string>;
  /** Ends it and resolves when it has ended. `SIGKILL`, the default, is a crash, `SIGTERM` a clean shutdown. */
  kill(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Starts it again after its end, on the same port and data; resolves when it takes part in the cluster again. */
  restart(): Promise<void>;
  /** Replaces the disk of a node that is down by an empty one. `restart()` then starts it with no data. */
  replaceDisk(): Promise<void>;
  /** From now on it can write no file, as on a full disk. A node that ends for that is started again by `restart()`, with its limit lifted. */
  fillDisk(): Promise<void>;
  /** Lifts the limit of `fillDisk()`. */
  emptyDisk(): Promise<void>;
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

/** The last line of a start: the controllers have accepted the broker, and clients may use it. */
const startedLine = 'Kafka Server started';

const run = promisify(execFile);

/** Three nodes by default. Resolves when every node knows of all others; `await using` ends them and removes their data. */
export async function ownCluster({
  size = 3,
  properties = {},
  network,
  envOf = () => undefined,
}: ClusterOptions = {}): Promise<Cluster> {
  const missing = await missingForJvm(env);
  if (missing !== undefined) throw new Error(`A cluster of brokers needs ${missing}. Install it.`);
  const classPath = await resolveJars(env, () => undefined, new AbortController().signal);
  const archive = await classArchive(javaCommand(env), classPath);
  const clusterId = randomBytes(16).toString('base64url');
  const ids = Array.from({ length: size }, (_, index) => index + 1);
  const controllerPorts = new Map<number, number>();
  const nodes: RunningNode[] = [];
  for (const id of ids) controllerPorts.set(id, await freePort());
  for (const id of ids) {
    const port = await freePort();
    const namedPort = network ? await freePort() : port;
    if (network) {
      const others = ids.filter((other) => other !== id);
      for (const opened of [namedPort, controllerPorts.get(id) ?? NaN]) {
        await Promise.all(others.map((other) => network.open(nameOf(other), nameOf(id), opened)));
      }
    }
    const dataDir = await mkdtemp(join(tmpdir(), `tailrace-cluster-${id}-`));
    const logDir = join(dataDir, 'log');
    nodes.push(
      new RunningNode({
        id,
        port,
        namedPort,
        dataDir,
        logDir,
        classPath,
        archive,
        clusterId,
        properties: {
          ...clusterProperties({ id, port, controllerPorts, logDir }),
          ...(network && networkProperties({ id, port, namedPort, controllerPorts, network })),
          ...properties,
        },
        env: { ...env, ...envOf(id) },
        hosts: network && hostsFile(ids, id, network),
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

/**
 * One node of a cluster, broker and controller, on loopback. Kafka's internal topics are replicated as in
 * production: three replicas, two in sync, where there are enough brokers.
 */
function clusterProperties(options: {
  readonly id: number;
  readonly logDir: string;
  readonly port: number;
  /** The ports of the controllers, by node id. */
  readonly controllerPorts: ReadonlyMap<number, number>;
}): Properties {
  const { id, logDir, port, controllerPorts } = options;
  const replicas = Math.min(3, controllerPorts.size);
  const inSync = Math.max(1, replicas - 1);
  return {
    ...jvmProperties({ logDir, port, controllerPort: controllerPorts.get(id) ?? NaN }),
    'node.id': id,
    'controller.quorum.voters': [...controllerPorts].map(([id, port]) => `${id}@127.0.0.1:${port}`).join(','),
    'offsets.topic.replication.factor': replicas,
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': inSync,
    'share.coordinator.state.topic.replication.factor': replicas,
    'share.coordinator.state.topic.min.isr': inSync,
  };
}

/** The name of a node, and of its party in a network. */
function nameOf(id: number): string {
  return `broker-${id}`;
}

/** The other nodes are reached by their names and by the addresses of the network; the test itself uses the listener CLIENT. */
function networkProperties(options: {
  readonly id: number;
  readonly port: number;
  readonly namedPort: number;
  readonly controllerPorts: ReadonlyMap<number, number>;
  readonly network: Network;
}): Properties {
  const { id, port, namedPort, controllerPorts, network } = options;
  const direct = `CLIENT://127.0.0.1:${port}`;
  const voters = [...controllerPorts].map(([other, controllerPort]) => {
    const host = other === id ? loopback : network.address(nameOf(id), nameOf(other));
    return `${other}@${host}:${controllerPort}`;
  });
  return {
    listeners: `BROKER://127.0.0.1:${namedPort},${direct},CONTROLLER://127.0.0.1:${controllerPorts.get(id) ?? NaN}`,
    'advertised.listeners': `BROKER://${nameOf(id)}:${namedPort},${direct}`,
    'controller.quorum.voters': voters.join(','),
  };
}

/** All names that the JVM of this node knows. */
function hostsFile(ids: readonly number[], id: number, network: Network): string {
  const others = ids.filter((other) => other !== id);
  return [
    `${loopback} localhost ${hostname()} ${nameOf(id)}`,
    ...others.map((other) => `${network.address(nameOf(id), nameOf(other))} ${nameOf(other)}`),
  ].join('\n');
}

interface NodeSettings {
  readonly id: number;
  readonly port: number;
  readonly namedPort: number;
  readonly dataDir: string;
  /** The folder in `dataDir` with the records of the node. */
  readonly logDir: string;
  readonly classPath: string;
  readonly archive: ClassArchive;
  readonly clusterId: string;
  readonly properties: Properties;
  readonly env: NodeJS.ProcessEnv;
  /** The hosts file of the JVM, where it does not use that of the system. */
  readonly hosts: string | undefined;
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

  get namedPort(): number {
    return this.#settings.namedPort;
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  async lastLines(): Promise<string> {
    const log = await readFile(this.#logFile, 'utf8');
    return log.split('\n').slice(-40).join('\n');
  }

  get #logFile(): string {
    return join(this.#settings.dataDir, 'broker.log');
  }

  get serves(): boolean {
    return this.#keeper !== undefined && !this.#frozen;
  }

  async start(): Promise<void> {
    const { dataDir, properties, hosts = '' } = this.#settings;
    await writeFile(join(dataDir, 'server.properties'), formatProperties(properties));
    await writeFile(join(dataDir, 'hosts'), hosts);
    await this.#format();
    await this.restart();
  }

  async replaceDisk(): Promise<void> {
    if (this.#keeper !== undefined) throw new Error(`node ${this.id} still runs`);
    await rm(this.#settings.logDir, { recursive: true, force: true });
    await this.#format();
  }

  async #format(): Promise<void> {
    const { dataDir, classPath, archive, clusterId } = this.#settings;
    await formatStorage({ env, dataDir, classPath, archive, clusterId });
  }

  async restart(): Promise<void> {
    if (this.#keeper !== undefined) throw new Error(`node ${this.id} still runs`);
    const { dataDir, classPath, archive, env, hosts } = this.#settings;
    const systemProperties = hosts === undefined ? {} : { 'jdk.net.hosts.file': join(dataDir, 'hosts') };
    const options = { env, dataDir, classPath, archive, systemProperties };
    const keeper = await spawnKafka({ ...options, keepData: false, quickStart: true });
    this.#keeper = keeper;
    keeper.once('exit', () => {
      if (this.#keeper === keeper) this.#keeper = this.#pid = undefined;
    });
    const isReady = await eventually(() => hasEnded(keeper) || this.#isReady()).catch(() => false);
    if (!isReady || hasEnded(keeper)) {
      const failure = await startFailure(hasEnded(keeper) ? 'over' : 'late', this.#logFile);
      await this.kill();
      throw failure;
    }
    this.#pid = await childOf(keeper);
  }

  async #isReady(): Promise<boolean> {
    const log = await readFile(this.#logFile, 'utf8').catch(() => '');
    if (!log.includes(startedLine)) return false;
    return (await countBrokers(loopback, this.#settings.port)) >= this.#settings.peers();
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const keeper = this.#keeper;
    if (keeper === undefined) return;
    if (signal === 'SIGTERM') this.thaw();
    await endKept(keeper, signal);
    this.#keeper = this.#pid = undefined;
    this.#frozen = false;
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.#settings.dataDir, { recursive: true, force: true });
  }

  async fillDisk(): Promise<void> {
    await this.#limitFiles('1');
  }

  async emptyDisk(): Promise<void> {
    if (this.#pid !== undefined) await this.#limitFiles('unlimited');
  }

  /** The JVM gets an error for a write beyond the limit, as it does where no space is left. */
  async #limitFiles(bytes: string): Promise<void> {
    await run('prlimit', ['--pid', String(this.#running()), `--fsize=${bytes}:`]);
  }

  async freeze(): Promise<void> {
    const pid = this.#running();
    process.kill(pid, 'SIGSTOP');
    this.#frozen = true;
    await eventually(() => isStopped(pid));
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
