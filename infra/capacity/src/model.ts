/** The needs of a load, from the measured cost of one event. Pure arithmetic; page.ts shows it. */
import measured from './measured.json' with { type: 'json' };

export interface Load {
  readonly eventsPerSecond: number;
  /** Of one call as it is sent. */
  readonly bytes: number;
  /** Deliveries made of each event. */
  readonly destinations: number;
}

export type Service = 'ingest' | 'router' | 'delivery';

export interface Capacity {
  /** Cores that are busy on average. */
  readonly cores: Readonly<Record<Service | 'brokers', number>>;
  readonly replicas: Readonly<Record<Service, number>>;
  readonly partitions: number;
  readonly brokers: number;
  /** Written to topics by the services, before copies. */
  readonly writtenMBPerSecond: number;
  /** On each broker, with copies and reserve. */
  readonly diskGBPerBroker: number;
  /** The part that reaches its limit first, and the events a second of this installation at which it does. */
  readonly saturates: { readonly part: Service | 'brokers' | 'network'; readonly eventsPerSecond: number };
}

/** The assumptions that are not measured. Each is a row of the page. */
export const assumptions = {
  /** Share of its core that a replica uses, so that a burst, a rebalance and a lost replica leave capacity. */
  busyShare: 0.5,
  /** A service runs on one thread. */
  coresPerReplica: 1,
  /** A broker is planned with this number of cores, half of them busy. */
  coresPerBroker: 8,
  /** Payload that a broker accepts a second, copies included, with disks and network of 10 Gbit/s. */
  brokerMBPerSecond: 150,
  copies: 3,
  /** Records gain headers and keys, and `events` and `deliveries` hold the call each; an attempt is a record of its own. */
  headerBytes: 450,
  attemptBytes: 500,
  /** Large requests are compressed to this share. Small requests are not, so a quiet installation stores more. */
  compressedShare: 0.5,
  retentionDays: 7,
  diskReserve: 1.4,
  leastReplicas: 2,
  leastBrokers: 3,
  leastPartitions: 24,
} as const;

const daySeconds = 86_400;

export function capacityFor({ eventsPerSecond, bytes, destinations }: Load): Capacity {
  const deliveries = eventsPerSecond * destinations;
  // The cost of a record grows by a third from 1 KB to 2 KB: most of it is independent of the size.
  const sizeFactor = 1 + Math.max(0, bytes - measured.callBytes) / measured.callBytes / 3;
  const cpu = measured.cpuMicroseconds;
  const cores = {
    ingest: (eventsPerSecond * cpu.ingest * sizeFactor) / 1e6,
    // Half of the router's cost is reading the event, half is writing each delivery.
    router: (eventsPerSecond * cpu.router * sizeFactor * (0.5 + 0.5 * destinations)) / 1e6,
    delivery: (deliveries * cpu.delivery * sizeFactor) / 1e6,
    // Measured with one event and one delivery on one broker without copies: each copy is one more write.
    brokers: (((eventsPerSecond + deliveries) / 2) * cpu.broker * sizeFactor * assumptions.copies) / 1e6,
  };
  const replicasFor = (busyCores: number): number =>
    Math.max(
      assumptions.leastReplicas,
      Math.ceil(busyCores / (assumptions.coresPerReplica * assumptions.busyShare)),
    );
  const replicas = {
    ingest: replicasFor(cores.ingest),
    router: replicasFor(cores.router),
    delivery: replicasFor(cores.delivery),
  };
  const written =
    eventsPerSecond * (bytes + assumptions.headerBytes) +
    deliveries * (bytes + assumptions.headerBytes + assumptions.attemptBytes);
  const copied = (written * assumptions.copies * assumptions.compressedShare) / 1e6;
  const brokers = Math.max(
    assumptions.leastBrokers,
    Math.ceil(cores.brokers / (assumptions.coresPerBroker * assumptions.busyShare)),
    Math.ceil(copied / assumptions.brokerMBPerSecond),
  );
  const stored = (copied * daySeconds * assumptions.retentionDays) / 1e3;
  return {
    cores,
    replicas,
    brokers,
    // Twice the replicas, so that replicas can be added; a multiple of 12, so that shares are equal.
    partitions: Math.max(
      assumptions.leastPartitions,
      Math.ceil((2 * Math.max(replicas.router, replicas.delivery)) / 12) * 12,
    ),
    writtenMBPerSecond: written / 1e6,
    diskGBPerBroker: (stored * assumptions.diskReserve) / brokers,
    saturates: firstLimit(eventsPerSecond, { cores, replicas, brokers }, copied),
  };
}

/** The load at which the first part has no capacity left: all of a replica's core, all cores or bytes of the brokers. */
function firstLimit(
  eventsPerSecond: number,
  { cores, replicas, brokers }: Pick<Capacity, 'cores' | 'replicas' | 'brokers'>,
  copiedMB: number,
): Capacity['saturates'] {
  const share = (busy: number, available: number): number => (available / busy) * eventsPerSecond;
  const limits: Capacity['saturates'][] = [
    ...(['ingest', 'router', 'delivery'] as const).map((part) => ({
      part,
      eventsPerSecond: share(cores[part], replicas[part] * assumptions.coresPerReplica),
    })),
    { part: 'brokers', eventsPerSecond: share(cores.brokers, brokers * assumptions.coresPerBroker) },
    { part: 'network', eventsPerSecond: share(copiedMB, brokers * assumptions.brokerMBPerSecond) },
  ];
  return limits.reduce((a, b) => (b.eventsPerSecond < a.eventsPerSecond ? b : a));
}
