/** `npm run capacity -- --events 10000 --size 1KB --destinations 2`: the needs of a load. */
import { parseArgs } from 'node:util';
import measured from './measured.json' with { type: 'json' };
import { assumptions, capacityFor, type Load } from './model.ts';

const usage = 'Usage: npm run capacity -- --events <a second> [--size <bytes, KB>] [--destinations <n>]';

function fail(problem: string): never {
  console.error(`${problem}\n${usage}`);
  process.exit(2);
}

function values() {
  try {
    return parseArgs({
      options: {
        events: { type: 'string' },
        size: { type: 'string', default: '1KB' },
        destinations: { type: 'string', default: '1' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    return fail((error as Error).message);
  }
}

const { events, size, destinations, help } = values();
if (help === true) {
  console.log(usage);
  process.exit(0);
}
const [, digits, unit] = /^(\d+)(KB)?$/i.exec(size) ?? [];
const load = {
  eventsPerSecond: Number(events ?? NaN),
  bytes: Number(digits ?? NaN) * (unit === undefined ? 1 : 1024),
  destinations: Number(destinations),
};
if (!(load.eventsPerSecond > 0 && load.eventsPerSecond <= 1e8))
  fail('--events is a number above 0, such as 10000.');
if (!(load.bytes > 0 && load.bytes <= 32 * 1024)) fail('--size is a size up to 32KB, the limit of a call.');
if (!(Number.isInteger(load.destinations) && load.destinations > 0))
  fail('--destinations is a whole number above 0.');
for (const line of derivation(load)) console.log(line);

/** The arithmetic of one load, a step on each line. */
function derivation(load: Load): string[] {
  const { eventsPerSecond, bytes, destinations } = load;
  const { cores, replicas, partitions, brokers, writtenMBPerSecond, diskGBPerBroker, saturates } =
    capacityFor(load);
  const { cpuMicroseconds: cpu } = measured;
  const copied = writtenMBPerSecond * assumptions.copies * assumptions.compressedShare;
  return [
    `deliveries: ${count(eventsPerSecond)} × ${destinations} = ${count(eventsPerSecond * destinations)} a second; calls of ${count(bytes)} bytes`,
    `ingest: ${count(eventsPerSecond)} × ${cpu.ingest} µs = ${fixed(cores.ingest)} cores; ÷ ${assumptions.busyShare} = ${replicas.ingest} replicas`,
    `router: ${cpu.router} µs for each event, half of it for each delivery = ${fixed(cores.router)} cores; ÷ ${assumptions.busyShare} = ${replicas.router} replicas`,
    `delivery: ${count(eventsPerSecond * destinations)} × ${cpu.delivery} µs = ${fixed(cores.delivery)} cores; ÷ ${assumptions.busyShare} = ${replicas.delivery} replicas`,
    `partitions: twice the replicas of the larger group, a multiple of 12, ${assumptions.leastPartitions} or more = ${partitions}`,
    `brokers: ${cpu.broker} µs × ${assumptions.copies} copies = ${fixed(cores.brokers)} cores; ${fixed(copied)} MB a second with copies; = ${brokers} brokers, ${assumptions.leastBrokers} or more`,
    `disk: ${fixed(copied)} MB × 86,400 s × ${assumptions.retentionDays} days × ${assumptions.diskReserve} reserve ÷ ${brokers} = ${count(Math.ceil(diskGBPerBroker))} GB for each broker`,
    `saturates first: ${saturates.part}, at ${count(Math.floor(saturates.eventsPerSecond))} events a second`,
  ];
}

function count(value: number): string {
  return value.toLocaleString('en');
}

function fixed(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 2 });
}
