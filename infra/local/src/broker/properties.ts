/** The broker configuration, for the JVM and for containers. Kafka's documentation describes the properties. */

export type Properties = Readonly<Record<string, string | number | boolean>>;

/**
 * Minimal and fast settings for one broker: no delay before a group's first rebalance, and short sessions, because
 * after a crash the node can register again only when its session has ended. With sessions of three seconds, a busy
 * machine sometimes fenced healthy brokers.
 */
const shared: Properties = {
  'process.roles': 'broker,controller',
  'node.id': 1,
  'auto.create.topics.enable': false,
  'default.replication.factor': 1,
  'group.initial.rebalance.delay.ms': 0,
  'broker.session.timeout.ms': 6_000,
  'broker.heartbeat.interval.ms': 1_000,
  'offsets.topic.replication.factor': 1,
  'offsets.topic.num.partitions': 3,
  'transaction.state.log.replication.factor': 1,
  'transaction.state.log.min.isr': 1,
  'transaction.state.log.num.partitions': 3,
  'share.coordinator.state.topic.replication.factor': 1,
  'share.coordinator.state.topic.min.isr': 1,
  'share.coordinator.state.topic.num.partitions': 3,
};

/**
 * All listeners are on loopback. The quorum's voter is set here and not in the data, because its port may change.
 */
export function jvmProperties(options: {
  readonly logDir: string;
  readonly port: number;
  readonly controllerPort: number;
}): Properties {
  const { logDir, port, controllerPort } = options;
  return {
    ...shared,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: `BROKER://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `BROKER://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'BROKER',
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': logDir,
  };
}

/**
 * One node of a cluster, broker and controller, on loopback. Kafka's internal topics are replicated as in
 * production: three replicas, two in sync, where there are enough brokers. `more` overrides any property.
 */
export function clusterProperties(options: {
  readonly id: number;
  readonly logDir: string;
  readonly port: number;
  /** The ports of the controllers, by node id. */
  readonly controllerPorts: ReadonlyMap<number, number>;
  readonly more?: Properties;
}): Properties {
  const { id, logDir, port, controllerPorts, more } = options;
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
    ...more,
  };
}

/**
 * Clients connect to `advertised`, the address as seen from outside. The broker connects to itself inside of the
 * container.
 */
export function containerProperties(options: {
  readonly logDir: string;
  readonly port: number;
  readonly advertised: string;
}): Properties {
  const { logDir, port, advertised } = options;
  return {
    ...shared,
    'controller.quorum.voters': '1@127.0.0.1:29093',
    listeners: `CLIENT://0.0.0.0:${port},BROKER://127.0.0.1:29092,CONTROLLER://127.0.0.1:29093`,
    'advertised.listeners': `CLIENT://${advertised},BROKER://127.0.0.1:29092`,
    'listener.security.protocol.map': 'CLIENT:PLAINTEXT,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'BROKER',
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': logDir,
  };
}

/** Formats properties as a properties file. */
export function formatProperties(properties: Properties): string {
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${String(value).replaceAll('\\', '\\\\')}\n`)
    .join('');
}

/** Formats properties as environment variables of the official image: `log.dirs` is KAFKA_LOG_DIRS. */
export function formatEnvironment(properties: Properties): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [
      `KAFKA_${name.toUpperCase().replaceAll('.', '_')}`,
      String(value),
    ]),
  );
}
