/**
 * Apache Kafka in a container, from its official image, through testcontainers. Loaded only where a Docker engine
 * answers.
 *
 * Persistent data is in a volume named after the data directory, because the user of the image cannot write to a
 * directory of this user. The container has a name of the same form, so that the next start finds and removes a
 * container that outlived a `kill -9`.
 */
import { hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { GenericContainer, Wait, getContainerRuntimeClient } from 'testcontainers';
import { abortable } from '../abortable.ts';
import type { BrokerNode, NodeOptions } from './node.ts';
import { startFailure } from '../failure.ts';
import { kafkaImage } from './jars.ts';
import { freePort, loopback } from '../ports.ts';
import { untilReady } from './probe.ts';
import { containerProperties, formatEnvironment } from './properties.ts';

/** The image's volume for data, which its user may write to. */
const dataPath = '/var/lib/kafka/data';
const insidePort = 9092;
const stopTimeoutSeconds = 20;
/** The cluster id for formatting a new volume: any 16 bytes in base64url. */
const clusterId = 'dGFpbHJhY2UtbG9jYWwtMQ';

/** Undefined where the engine cannot run the image. The reason is reported to `onProgress`. */
export async function startContainer(options: NodeOptions): Promise<BrokerNode | undefined> {
  const { env, dataDir, keepData, onProgress, onDeath, signal } = options;
  const image = env['TAILRACE_KAFKA_IMAGE'] ?? kafkaImage;
  onProgress(`starting the broker in a container of ${image}`);

  const docker = await getContainerRuntimeClient();
  const engineHost = docker.info.containerRuntime.host;
  const host = engineHost === 'localhost' ? loopback : engineHost;
  const name = nameFor(dataDir);
  const container = docker.container.dockerode.getContainer(name);
  const logFile = join(dataDir, 'broker.log');
  let running = false;
  let expectedEnd = false;
  const remove = async (): Promise<void> => {
    expectedEnd = true;
    await container.remove({ force: true, v: true }).catch(ignoreStatus(404, 409));
  };
  await remove();
  const port = await freePort(options.port);

  const definition = new HostContainer(image, host)
    .withName(name)
    .withExposedPorts({ container: insidePort, host: port })
    .withEnvironment({
      CLUSTER_ID: clusterId,
      KAFKA_HEAP_OPTS: '-Xms256m -Xmx768m',
      ...formatEnvironment(
        containerProperties({ logDir: dataPath, port: insidePort, advertised: `${host}:${port}` }),
      ),
    })
    // Readiness is checked below, as after a restart.
    .withWaitStrategy(Wait.forAll([]));
  if (keepData) definition.withBindMounts([{ source: name, target: dataPath }]);

  const awaitReady = async (): Promise<void> => {
    running = true;
    expectedEnd = false;
    let ready = false;
    const log = await docker.container.logs(container, { since: Math.floor(Date.now() / 1_000) });
    log.pipe(createWriteStream(logFile, { flags: 'a' }));
    const ended = container.wait().then(
      ({ StatusCode }: { StatusCode: number }) => `exit code ${StatusCode}`,
      (error: unknown) => (error as Error).message,
    );
    void ended.then((how) => {
      running = false;
      if (ready && !expectedEnd) onDeath(how);
    });
    const outcome = await untilReady(host, port, () => signal.aborted || !running);
    signal.throwIfAborted();
    if (outcome !== 'ready') throw await startFailure(outcome, logFile);
    ready = true;
  };
  const kill = async (signalName: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    expectedEnd = true;
    const ended = container.wait();
    const killed =
      signalName === 'SIGKILL'
        ? container.kill({ signal: signalName })
        : container.stop({ t: stopTimeoutSeconds });
    await killed.catch(ignoreStatus(304, 404, 409));
    await ended.catch(ignoreStatus(404));
  };
  const restart = async (): Promise<void> => {
    await container.start();
    await awaitReady();
  };

  await rename(logFile, `${logFile}.old`).catch(() => undefined);
  try {
    await abortable(definition.start(), signal);
    await awaitReady();
  } catch (error) {
    await remove();
    signal.throwIfAborted();
    if (definition.wasCreated) throw error;
    const [reason = ''] = (error as Error).message.split('\n');
    onProgress(`the Docker engine cannot run ${image} (${reason}), so the local JVM is used`);
    return undefined;
  }
  return { kind: 'container', address: `${host}:${port}`, kill, restart, remove };
}

/** Removes the volume of a broker for `dataDir`. */
export async function removeVolume(dataDir: string): Promise<void> {
  const docker = await getContainerRuntimeClient();
  await docker.container.dockerode.getVolume(nameFor(dataDir)).remove().catch(ignoreStatus(404));
}

/** The name of the container and of the volume. */
function nameFor(dataDir: string): string {
  return `tailrace-${hash('sha256', dataDir).slice(0, 12)}`;
}

/**
 * Publishes the ports on loopback where the engine is on this machine. The default of testcontainers is all
 * interfaces.
 */
class HostContainer extends GenericContainer {
  readonly #host: string;
  wasCreated = false;

  constructor(image: string, host: string) {
    super(image);
    this.#host = host;
  }

  protected override beforeContainerCreated(): Promise<void> {
    if (this.#host === loopback) {
      const bindings = Object.values(this.hostConfig.PortBindings as Record<string, { HostIp?: string }[]>);
      for (const binding of bindings.flat()) binding.HostIp = loopback;
    }
    return Promise.resolve();
  }

  protected override containerCreated(): Promise<void> {
    this.wasCreated = true;
    return Promise.resolve();
  }
}

/**
 * Ignores responses of the engine for a state that is already reached: 304 stopped, 404 gone, 409 stopped or being
 * removed.
 */
function ignoreStatus(...statuses: number[]): (error: unknown) => void {
  return (error) => {
    if (!statuses.includes((error as { statusCode?: number }).statusCode ?? 0)) throw error;
  };
}
