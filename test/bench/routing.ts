/**
 * Measures the router's own CPU time for an event, without the Kafka client, for sources with many destinations, filters and
 * disabled destinations. All sources are measured in turns, so that a noisy minute affects all of them.
 * `node test/bench/routing.ts [destinations]`.
 */
import type { Destination, Filter, Source } from '@tailrace/config';
import { readBack, type OutgoingRecord } from '@tailrace/kafka';
import { noRegistry } from '@tailrace/registry';
import { createMetrics } from '@tailrace/service';
import { createRouterMetrics } from '../../services/router/src/metrics.ts';
import { createProcessor } from '../../services/router/src/process-record.ts';
import { median } from './figures/statistics.ts';
import { hundredths, table, tenths, whole } from './figures/table.ts';

interface Case {
  readonly name: string;
  readonly enabled: readonly Destination[];
  readonly disabled?: readonly Destination[];
  /** The case that it is compared with. */
  readonly beside: string;
}

const rounds = 9;
/** Deliveries or destinations that are considered in a round. */
const workPerRound = 20_000;

function destinations(count: number, filterOf: (index: number) => Filter | undefined = () => undefined) {
  return Array.from({ length: count }, (_, index): Destination => {
    const filter = filterOf(index);
    return {
      id: `destination-${index}`,
      type: 'Webhooks',
      enabled: true,
      sources: ['web'],
      settings: { webhooks: [{ url: `https://receiver-${index}.example/hook` }] },
      ...(filter && { filter }),
    };
  });
}

/** Three conditions, the last of which decides: about one in `every` destinations gets an event. */
const filterFor =
  (every: number) =>
  (index: number): Filter => ({
    types: ['track', 'identify'],
    events: { include: ['Order *', 'Signed Up'], exclude: ['* Draft'] },
    condition: {
      all: [
        { field: 'properties.total', atLeast: 10 },
        { field: 'context.device.type', oneOf: ['ios', 'android'] },
        { field: 'properties.region', equals: index % every === 0 ? 'eu' : `region-${index}` },
      ],
    },
  });

function casesOf(many: number): Case[] {
  const plain = `${whole(many)} destinations`;
  const off = (count: number) =>
    destinations(count).map((one) => ({ ...one, id: `off-${one.id}`, enabled: false }));
  return [
    { name: '1 destination', enabled: destinations(1), beside: '1 destination' },
    { name: '1 with a filter that passes', enabled: destinations(1, filterFor(1)), beside: '1 destination' },
    { name: '1, and 1 disabled', enabled: destinations(1), disabled: off(1), beside: '1 destination' },
    {
      name: `1, and ${whole(many)} disabled`,
      enabled: destinations(1),
      disabled: off(many),
      beside: '1 destination',
    },
    { name: 'none connected', enabled: [], beside: '1 destination' },
    { name: plain, enabled: destinations(many), beside: plain },
    { name: `${plain}, filters all pass`, enabled: destinations(many, filterFor(1)), beside: plain },
    { name: `${plain}, 1 filter in 10 passes`, enabled: destinations(many, filterFor(10)), beside: plain },
    {
      name: `${plain}, no filter passes`,
      enabled: destinations(many, filterFor(Infinity)).slice(1),
      beside: plain,
    },
  ];
}

const source: Source = { id: 'web', writeKeys: ['wk'], enabled: true };
const call = {
  type: 'track',
  userId: 'ada',
  event: 'Order Completed',
  context: { device: { type: 'ios' }, library: { name: 'bench', version: '1' } },
  properties: { total: 25.5, region: 'eu', text: 'x'.repeat(750) },
};
const value = Buffer.from(JSON.stringify(call));
const headers = readBack({ 'source-id': 'web' });

/** Returns a function that processes events, and resolves with their records, once all are acknowledged. */
function start({ enabled, disabled = [] }: Case) {
  const config = {
    source: () => source,
    sourceByWriteKey: () => source,
    destination: () => undefined,
    destinationsOf: () => enabled,
    disabledDestinationsOf: () => disabled,
    refresh: () => Promise.resolve(),
    onChange: () => () => undefined,
  };
  let published: OutgoingRecord[] = [];
  const process = createProcessor({
    config,
    suppressedUsers: { isSuppressed: () => false },
    frames: noRegistry,
    messageIds: { use: () => 'first' },
    transformStage: { waiting: 0, make: (delivery) => delivery },
    output: {
      names: { deliveries: 'deliveries', decisions: 'decisions' },
      publisher: {
        publish(record) {
          published.push(record);
          return Promise.resolve();
        },
      },
      rejecter: { reject: () => undefined, rejectRouted: () => undefined },
    },
    report: {
      reusedIds: { report: () => undefined },
      metrics: createRouterMetrics(createMetrics(), config),
      usage: { count: () => undefined },
      log: { warn: () => undefined },
    },
  });
  return async (events: number): Promise<readonly OutgoingRecord[]> => {
    published = [];
    const done = Promise.withResolvers<undefined>();
    let left = events;
    for (let offset = 0; offset < events; offset += 1) {
      const work = {
        topic: 'events',
        partition: 0,
        offset,
        timestamp: Date.now(),
        revoked: false,
        done() {
          left -= 1;
          if (left === 0) done.resolve(undefined);
        },
      };
      process({ ...work, work, key: Buffer.from('ada'), value, ...headers });
      // The records of the last event are enough for the report, and a million would only load the collector.
      if (published.length > 2_000) published = [];
    }
    await done.promise;
    return published;
  };
}

const many = Number(process.argv[2] ?? 1_000);
const cases = casesOf(many);
const runs = cases.map((one) => {
  const { enabled, disabled = [] } = one;
  const events = Math.ceil(workPerRound / Math.max(1, enabled.length));
  return { ...one, events, disabled, run: start(one), micros: [] as number[] };
});
for (let round = -2; round < rounds; round += 1) {
  for (const { run, events, micros } of runs) {
    const before = process.cpuUsage();
    await run(events);
    const { user, system } = process.cpuUsage(before);
    // The first rounds are for the compiler.
    if (round >= 0) micros.push((user + system) / events);
  }
}

const medians = new Map(runs.map(({ name, micros }) => [name, median(micros)]));
const rows: string[][] = [];
for (const { name, beside, run } of runs) {
  const records = await run(1);
  const decision = records.find(({ topic }) => topic === 'decisions');
  const cost = medians.get(name) ?? NaN;
  rows.push([
    name,
    whole(records.length - (decision ? 1 : 0)),
    decision ? `${whole(String(decision.value).length)} bytes` : '-',
    tenths(cost),
    hundredths(cost / (medians.get(beside) ?? NaN)),
  ]);
}
console.log(table(['source', 'deliveries', 'decision', 'µs of CPU an event', 'ratio'], rows));
