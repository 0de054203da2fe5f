/** infra/CAPACITY.md: the needs of a load, from measured figures. */
import measured from '../../../infra/capacity/src/measured.json' with { type: 'json' };
import { assumptions, capacityFor, type Load } from '../../../infra/capacity/src/model.ts';
import { table } from '../table.ts';
import { simulate, type Simulation } from './clusters.ts';

const loads: readonly Load[] = [1_000, 10_000, 100_000].map((eventsPerSecond) => ({
  eventsPerSecond,
  bytes: 1_024,
  destinations: 1,
}));

/** A million events a second, 100,000 sources, clusters of the size of the last row of the table. */
export const million: Simulation = {
  eventsPerSecond: 1_000_000,
  sources: 100_000,
  clusters: 16,
  capacity: 100_000,
  exponent: 0.7,
  seconds: 120,
};

const scenarios: readonly (readonly [title: string, simulation: Simulation])[] = [
  ['16 clusters', million],
  ['16 clusters, one is lost after a minute', { ...million, lostAt: 60 }],
  ['11 clusters, one is lost after a minute', { ...million, clusters: 11, lostAt: 60 }],
  ['16 clusters, a few sources dominate (exponent 1.1)', { ...million, exponent: 1.1 }],
];

export function capacityPage(): string {
  const { cpuMicroseconds: cpu, machine, date, commit, how } = measured;
  return `# Capacity

The partitions, replicas, brokers and disk that a load needs, generated from \`infra/capacity/src/measured.json\`: run \`npm run docs capacity\` after a
change. For a load of your own: \`npm run capacity -- --events 10000 --size 1KB --destinations 2\`.

**These are estimates from one small machine**, whose highest rate was ${count(measured.deliveredPerSecond)} events a second. Measure your own load.

## Measured

An event costs ${cpu.ingest} µs of CPU in ingest, ${cpu.router} in router, ${cpu.delivery} in delivery and ${cpu.broker} in the broker. Peaks of resident memory were ${measured.residentMiB.ingest}, ${measured.residentMiB.router} and
${measured.residentMiB.delivery} MiB (ingest, router, delivery). Measured on ${date} at commit ${commit}:
${how}. ${machine}.

## Loads

Calls of 1 KB, one destination for each event, ${assumptions.copies} copies, ${assumptions.retentionDays} days.

${table(
  [
    'events a second',
    'ingest',
    'router',
    'delivery',
    'partitions',
    'brokers',
    'disk of a broker',
    'saturates first',
  ],
  loads.map((load) => {
    const found = capacityFor(load);
    return [
      count(load.eventsPerSecond),
      ...[found.replicas.ingest, found.replicas.router, found.replicas.delivery].map(String),
      String(found.partitions),
      String(found.brokers),
      `${count(Math.ceil(found.diskGBPerBroker))} GB`,
      `${found.saturates.part}, at ${count(Math.floor(found.saturates.eventsPerSecond))}`,
    ];
  }),
)}
## Arithmetic

\`npm run capacity\` prints each step. Assumptions that were not measured: a replica uses half of one core; a broker has ${assumptions.coresPerBroker} cores, half of them busy, and accepts ${assumptions.brokerMBPerSecond} MB a second, copies
included; each copy costs a broker as much CPU as the first; a record has ${assumptions.headerBytes} bytes of key and headers, an attempt ${assumptions.attemptBytes} bytes; large requests compress to
half. [At low rates](../test/bench/README.md#results) requests are small and not compressed, and each costs more CPU.

## A million events a second

One Kafka cluster for each ${count(million.capacity)} events a second, and each source in one of them, by rendezvous hashing of its id. The simulation runs ${million.seconds} s with ${count(million.sources)} sources whose traffic follows Zipf's law (exponent ${million.exponent}); its figures are events a second.

${table(
  ['simulation', 'largest source', 'busiest cluster', 'after the loss', 'handled', 'backlog'],
  scenarios.map(([title, simulation]) => {
    const result = simulate(simulation);
    return [
      title,
      percent(result.largestSourceShare),
      count(Math.round(result.busiest)),
      simulation.lostAt === undefined ? '-' : count(Math.round(result.busiestAfterLoss)),
      percent(result.handled / result.arrived),
      count(Math.round(result.backlog)),
    ];
  }),
)}
- **A source cannot be larger than a cluster.** Split it into several sources, each with its own write key.
- **The busiest cluster decides**, because hashing does not spread large sources evenly. Plan spare clusters.
- **A lost cluster**: only its sources move to the others. Events that wait in it are delivered when it is back, and may be repeated or out of order.
- **Tailrace has no router between clusters**: the name to which a source sends decides. [Export and import](../packages/cli/README.md#export-and-restore-the-configuration)
  give them the same configuration.
`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}

function percent(share: number): string {
  return `${(share * 100).toLocaleString('en', { maximumFractionDigits: 1 })} %`;
}
