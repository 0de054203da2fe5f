/**
 * Measures transforms in threads, as the router runs them: 1,000 destinations with a script each, then one with a function that loops beside
 * them. `node --expose-gc test/bench/transforms.ts [destinations]`.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Transforms, type TransformResult } from '@tailrace/transform';
import { distribution, median } from './figures/statistics.ts';
import { hundredths, table, tenths, whole } from './figures/table.ts';

const destinations = Number(process.argv[2] ?? 1_000);
const rounds = 20;
const samples = 1_000;
const event = JSON.stringify({
  version: 1,
  type: 'track',
  userId: 'ada',
  timestamp: '2026-05-01T08:30:00.000Z',
  event: 'Order Completed',
  properties: {
    total: 25.5,
    items: Array.from({ length: 12 }, (_, nth) => ({ sku: `sku-${nth}`, price: nth, name: 'x'.repeat(30) })),
  },
});
const codeOf = (nth: number): string => `
  const labels = { 'Order Completed': 'order', 'Cart Viewed': 'cart' };
  const sum = (items) => items.reduce((total, { price }) => total + price, 0);
  // Destination ${nth}
  ({ userId, event, timestamp, properties }) => ({
    id: \`\${userId}-${nth}\`, kind: labels[event] ?? event, at: timestamp, total: sum(properties.items),
    items: properties.items.map(({ sku, price }) => ({ sku, price })),
  })`;

const memoryMb = (): number => {
  gc?.();
  return process.memoryUsage().rss / 2 ** 20;
};
const cpuMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000;

async function timed(transforms: Transforms, owner: string, code: string): Promise<number> {
  const start = performance.now();
  const result: TransformResult = await transforms.run({ owner, code, event });
  if (result.outcome !== 'body') throw new Error(JSON.stringify(result));
  return performance.now() - start;
}

const codes = Array.from({ length: destinations }, (_, nth) => codeOf(nth));
await using transforms = new Transforms();
await timed(transforms, 'first', '() => 1');
const before = memoryMb();

/** Each script once. */
async function round(): Promise<{ readonly cpu: number; readonly here: number }> {
  const [start, hereStart] = [process.cpuUsage(), process.threadCpuUsage()];
  await Promise.all(codes.map((code, nth) => timed(transforms, `destination-${nth}`, code)));
  return { cpu: cpuMs(process.cpuUsage(start)), here: cpuMs(process.threadCpuUsage(hereStart)) };
}

const loading = await round();
const rest: { readonly cpu: number; readonly here: number }[] = [];
for (let nth = 0; nth < rounds; nth += 1) rest.push(await round());
const memory = memoryMb() - before;

/** One at a time, alone and beside the function that loops. */
async function latencies(isBeside: boolean): Promise<readonly number[]> {
  const over = new AbortController();
  const code = '() => { for (;;); }';
  const looping = (async () => {
    while (isBeside && !over.signal.aborted) {
      await transforms.run({ owner: 'loops', code, event });
      // While it is not run, nothing else would have a turn of the event loop.
      await wait(1);
    }
  })();
  const found: number[] = [];
  for (let nth = 0; nth < samples; nth += 1) {
    await wait(2);
    const at = nth % 50;
    found.push(await timed(transforms, `destination-${at}`, codes[at] ?? ''));
  }
  over.abort();
  await looping;
  return found;
}
const alone = await latencies(false);
const beside = await latencies(true);
const shown = (found: readonly number[]): string => {
  const { p50, p99 } = distribution(found);
  return `${hundredths(p50)}, ${hundredths(p99)}`;
};
const micros = (ms: number): number => (ms * 1_000) / destinations;

console.log(
  table(
    ['what', 'figure'],
    [
      ['CPU of a first run, with loading the script, µs', whole(micros(loading.cpu))],
      ['CPU of a later run, µs', tenths(micros(median(rest.map(({ cpu }) => cpu))))],
      ['of it on the event loop of the service, µs', tenths(micros(median(rest.map(({ here }) => here))))],
      [`memory of ${destinations} scripts, MiB`, whole(memory)],
      ['p50, p99 alone, ms', shown(alone)],
      ['p50, p99 beside a function that loops, ms', shown(beside)],
    ],
  ),
);
