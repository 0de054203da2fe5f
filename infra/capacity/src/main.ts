/** `npm run capacity -- --events 10000 --size 1KB --destinations 2`: the needs of a load. */
import { parseArgs } from 'node:util';
import { derivation } from './page.ts';

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
