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
  'listener.security.protocol.map': 'CLIENT:PLAINTEXT,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT',
  'inter.broker.listener.name': 'BROKER',
  'controller.listener.names': 'CONTROLLER',
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
    'log.dirs': logDir,
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
