/**
 * `node test/bench/soak.ts`: the same load for hours, in pieces that continue, while days pass in seconds. Shows what grows. The exit
 * code is 1 if an event was lost.
 */
import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { count, readOptions, type CommandLine } from './command-line.ts';
import { mapValues, type ByProcess } from './figures/measure.ts';
import { renderPlot, type Panel } from './figures/plot.ts';
import { distribution, isFlat, median, trend } from './figures/statistics.ts';
import { table, tenths, whole } from './figures/table.ts';
import { install, sourceOf } from './growth/installation.ts';
import { createCalls } from './load/calls.ts';
import { createLoad } from './load/load.ts';
import { writeKeyOf } from './pipeline/services.ts';
import { obey, runBench, say, type Bench } from './processes/bench.ts';
import { startReceiver } from './receivers/receiver.ts';
import { takeResources, type Sample } from './soak/sample.ts';

interface Options {
  readonly minutes: number;
  readonly ratePerSecond: number;
  readonly destinations: number;
  readonly dayMs: number;
  readonly folder: string;
}

const usage = `Usage: node test/bench/soak.ts [options]

Sends calls of as many sources as destinations, of which one in twenty always fails, to all four services. Started again with the same
folder, it continues, and the report is about all pieces.

  --minutes N       of this piece                                            (60)
  --rate N          calls a second                                           (500)
  --destinations N                                                           (1000)
  --day-seconds N   a day of retention and of other windows lasts so long    (60)
  --folder FOLDER   for Kafka's data, the history, samples.jsonl and soak.svg (test/.results/soak)
  --help            this text
`;

function readCommandLine(args: readonly string[]): CommandLine<Options> {
  const texts = ['minutes', 'rate', 'destinations', 'day-seconds', 'folder'] as const;
  return readOptions(args, { usage, texts }, (values) => ({
    minutes: count('minutes', values.minutes, 60),
    ratePerSecond: count('rate', values.rate, 500),
    destinations: count('destinations', values.destinations, 1_000),
    dayMs: count('day-seconds', values['day-seconds'], 60) * 1_000,
    folder: path.resolve(values.folder ?? 'test/.results/soak'),
  }));
}

const oneFailsOf = 20;
const sampleSeconds = 20;
const arriveWithinMs = 60_000;
/** In the report. */
const mostColumns = 8;
const realDayMs = 86_400_000;

/** Kafka looks for expired segments every five minutes, and for segments to compact every 15 s. */
const oftenCleaned = {
  'log.retention.check.interval.ms': 5_000,
  'log.segment.delete.delay.ms': 1_000,
  'log.cleaner.backoff.ms': 5_000,
  'log.initial.task.delay.ms': 1_000,
};

await obey(readCommandLine(process.argv.slice(2)), async (options) => {
  const { folder } = options;
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, 'samples.jsonl');
  const earlier = await samplesIn(file);
  const piece = (earlier.at(-1)?.piece ?? 0) + 1;
  await runBench(
    (bench) =>
      soak(bench, options, (sample) => appendFile(file, `${JSON.stringify({ piece, ...sample })}\n`)),
    async () => {
      const samples = await samplesIn(file);
      await writeFile(path.join(folder, 'soak.svg'), renderPlot('part of the time', panelsOf(samples)));
      const lost = samples.reduce((sum, sample) => sum + sample.lost, 0);
      const calls = samples.reduce((sum, sample) => sum + sample.calls, 0);
      process.stdout.write(`${tableOf(samples)}\n\n${whole(calls)} calls in ${piece} pieces, ${lost} lost\n`);
      return { sound: lost === 0 };
    },
    {
      folder,
      changes: {
        properties: (base) => ({ ...base, ...oftenCleaned }),
        systemProperties: {},
        users: {},
      },
    },
  );
});

async function samplesIn(file: string): Promise<readonly Sample[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Sample);
}

async function soak(
  bench: Bench,
  { minutes, ratePerSecond, destinations, dayMs, folder }: Options,
  keep: (sample: Omit<Sample, 'piece'>) => Promise<void>,
): Promise<void> {
  const receiver = bench.resources.use(startReceiver());
  const urls = await receiver.listen([{ kind: 'answers' }, { kind: 'fails' }]);
  const [answers = '', fails = ''] = urls.map((url) => new URL(url).origin);
  const isFailing = (nth: number): boolean => nth % oneFailsOf === oneFailsOf - 1;
  const origins = Array.from({ length: oneFailsOf }, (_, nth) => (isFailing(nth) ? fails : answers));
  const shape = { sources: destinations, fanOut: 1, retries: 0, partitions: 6, bodyBytes: 0 };
  const scaled = (ms: number): number => Math.ceil((ms * dayMs) / realDayMs);
  const seconds = (ms: number): string => `${Math.max(1, Math.round(scaled(ms) / 1_000))}s`;
  const system = await install(bench, shape, origins, {
    secretKey: await secretKeyIn(folder),
    settings: {
      TAILRACE_RETRY_SCHEDULE: '1s,2s,3s',
      TAILRACE_RETRY_WINDOW: seconds(realDayMs / 6),
      TAILRACE_HISTORY_MAX_AGE: seconds(7 * realDayMs),
    },
    topicConfig: ({ 'retention.ms': retention, ...usual }) => ({
      ...usual,
      ...(retention !== undefined && { 'retention.ms': String(scaled(Number(retention))) }),
      // By default segments are closed after a week, and deletions are kept for a day.
      'segment.ms': String(scaled(7 * realDayMs)),
      'delete.retention.ms': String(scaled(realDayMs)),
    }),
  });
  const sampled = {
    pids: { ...system.pids, ...(bench.brokerPid !== undefined && { broker: bench.brokerPid }) },
    metricsPorts: system.metricsPorts,
    dataDir: bench.dataDir,
  };
  const load = createLoad({
    port: system.ports.ingest,
    path: '/v1/track',
    headers: { 'content-type': 'application/json' },
    body: createCalls((number) => writeKeyOf(sourceOf(number % destinations))),
  });
  const run = async (): Promise<void> => {
    const calls = ratePerSecond * sampleSeconds;
    const numbers = Array.from({ length: calls }, (_, nth) => load.next + nth);
    const arriving = numbers.filter((number) => !isFailing(number % destinations)).length;
    await receiver.expect({ first: load.next, count: calls, arriving });
    const sent = await load.openLoop({ count: calls, ratePerSecond, spacing: 'poisson' });
    await receiver.complete(arriveWithinMs);
    const { receivedAt } = await receiver.handOver();
    const latencies = receivedAt.map((at, index) => at - (sent.dueAt[index] ?? NaN));
    const arrived = receivedAt.filter((at) => !Number.isNaN(at)).length;
    const { p99: p99Ms } = distribution(latencies);
    await keep({ calls, lost: arriving - arrived, p99Ms, ...(await takeResources(sampled)) });
  };
  const endsAt = performance.now() + minutes * 60_000;
  while (performance.now() < endsAt) {
    await Promise.race([run(), system.failed]);
    say(`  ${Math.max(0, Math.ceil((endsAt - performance.now()) / 60_000))} minutes are left`);
  }
}

/** The configuration of the piece before is sealed with it. */
async function secretKeyIn(folder: string): Promise<Buffer> {
  const file = path.join(folder, 'secret-key');
  await writeFile(file, randomBytes(32), { flag: 'wx' }).catch(() => undefined);
  return readFile(file);
}

type Part = readonly Sample[];

/** The samples in parts of the same length. */
function partsOf(samples: readonly Sample[]): readonly Part[] {
  const columns = Math.min(mostColumns, samples.length);
  const at = (part: number): number => Math.round((part * samples.length) / columns);
  return Array.from({ length: columns }, (_, part) => samples.slice(at(part), at(part + 1)));
}

/** Those of a MiB or more. */
function largest(sizes: ByProcess): ByProcess {
  return Object.fromEntries(Object.entries(sizes).filter(([, size]) => size >= 1));
}

function total(sizes: ByProcess): number {
  return Object.values(sizes).reduce((sum, size) => sum + size, 0);
}

/** The figures of a sample, by what they are of. */
function panels(of: Sample | undefined): Readonly<Record<string, ByProcess>> {
  if (!of) return {};
  return {
    'p99, ms': { delivery: of.p99Ms },
    'memory, MiB': of.memory,
    'mean pause of a collection, ms': of.meanPause,
    'open files': of.openFiles,
    'records that wait': of.lag,
    'Kafka, MiB': { all: total(of.kafka), ...largest(of.kafka) },
    'history, MiB': { control: of.history },
  };
}

function figuresOf(
  samples: readonly Sample[],
): Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> {
  const all = samples.map(panels);
  return mapValues(panels(samples.at(-1)), (names, title) =>
    mapValues(names, (_, name) => all.map((figures) => figures[title]?.[name] ?? 0)),
  );
}

function panelsOf(samples: readonly Sample[]): readonly Panel[] {
  const parts = partsOf(samples).map(figuresOf);
  return Object.entries(figuresOf(samples)).map(([title, names]) => ({
    title,
    lines: mapValues(names, (_, name) =>
      parts.map((figures, nth) => ({ x: nth + 1, y: median(figures[title]?.[name] ?? []) })),
    ),
  }));
}

/** A row for each figure: its medians over the time, and whether the last third is above the one before. */
function tableOf(samples: readonly Sample[]): string {
  const parts = partsOf(samples).map(figuresOf);
  const rows = Object.entries(figuresOf(samples)).flatMap(([title, names]) =>
    Object.entries(names).map(([name, values]) => [
      `${title}: ${name}`,
      ...parts.map((figures) => tenths(median(figures[title]?.[name] ?? []))),
      isFlat(trend(values.slice(values.length / 3))) ? 'flat' : 'GROWS',
    ]),
  );
  return table(['', ...parts.map((_, nth) => `${nth + 1}`), ''], rows);
}
