/**
 * Measures how other destinations affect healthy ones that receive a low, steady rate. Runs alternate between the
 * healthy destinations alone and beside the others. The others start when measuring starts, so that the figures include
 * the time before their circuit breakers open. Each run has its own stage, so that its retries do not affect other runs.
 */
import { say } from '../processes/bench.ts';
import { startCpuMeter } from '../figures/measure.ts';
import type { Receiver } from '../receivers/receiver.ts';
import { distribution, median, type Distribution } from '../figures/statistics.ts';
import { hundredths, percent, table, tenths, whole } from '../figures/table.ts';
import type { Account } from './account.ts';
import { measureScrape, type Scrape } from './metrics.ts';
import { describeGoal, type Goal, type Report } from './report.ts';
import { openStage, type Context } from './stage.ts';
import { inTurn, select, type Wave } from './wave.ts';

/** URLs of the destinations of a run. */
export interface Company {
  readonly healthy: readonly string[];
  readonly others: readonly string[];
}

export interface Setting {
  /** Letters and dashes. */
  readonly name: string;
  readonly title: string;
  readonly listen: (receiver: Receiver) => Promise<Company>;
  /** Deliveries written for each of the others when measuring starts. */
  readonly burst?: number;
  /** Deliveries a second to the others, together; 0 for none. */
  readonly perSecond: number;
  /** Rate limit of each of the others, in requests a second. */
  readonly rateLimit?: number;
  /** Whether the setting has goals. */
  readonly judged?: boolean;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** The others are compared with the first. */
  readonly settings: readonly [Setting, ...Setting[]];
  /** Deliveries a second to the healthy ones, together. */
  readonly healthyPerSecond: number;
  /** The goal for their p99, to that of the first setting. */
  readonly mostRatio: number;
  /** Whether the cost of scraping the metrics is measured at the end of each run. */
  readonly scrapes?: boolean;
}

/** Figures of the healthy destinations. */
interface Run {
  readonly setting: string;
  readonly latencyMs: Distribution;
  /** Latencies of deliveries sent in the first seconds. */
  readonly firstMs: Distribution;
  readonly sent: number;
  readonly missing: number;
  readonly deferred: number;
  readonly dead: number;
  /** Share of one core while measuring. */
  readonly cpuShare: number;
  readonly scrapes: Readonly<Record<string, Scrape>>;
  readonly account: Account;
}

const firstSeconds = 5;
/** V8 compiles hot code in this time; a shorter run has a shorter warm-up. */
const longestWarmUpSeconds = 8;
/** Rate of the warm-up to the healthy destinations; higher if they are many, so that each gets a delivery. */
const warmUpPerSecond = 200;
const settlesWithinMs = 15_000;
const most = { p99Ms: 50, scrapeBytes: 300_000, heldMs: 20 };
const pages = ['/metrics', '/metrics/destinations'];

export async function measureBeside(context: Context, scenario: Scenario): Promise<Report> {
  const { runs: rounds, besideSeconds } = context.options;
  const { name, title, settings, healthyPerSecond, mostRatio } = scenario;
  const runs: Run[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const setting of settings) {
      say(`${name}: round ${round} of ${rounds}, ${setting.title}`);
      runs.push(await run(context, scenario, setting, `${name}-${round}-${setting.name}`));
    }
  }
  const of = (setting: Setting): Run[] => runs.filter((run) => run.setting === setting.name);
  const medianOf = (some: readonly Run[], figure: (run: Run) => number): number => median(some.map(figure));
  const p99 = ({ latencyMs }: Run): number => latencyMs.p99;
  const alone = medianOf(of(settings[0]), p99);
  const header = ['', 'p50 ms', 'p99 ms', 'max ms', `first ${firstSeconds} s: max`, 'p99 to alone'];
  return {
    title: `${title}; of the healthy, ${healthyPerSecond} deliveries a second for ${besideSeconds} s`,
    tables: [
      table(
        [...header, 'sent', 'missing', 'deferred', 'dead', 'CPU'],
        settings.flatMap((setting) =>
          of(setting).map((run) => [
            setting.title,
            ...[run.latencyMs.p50, run.latencyMs.p99, run.latencyMs.max, run.firstMs.max].map(tenths),
            hundredths(run.latencyMs.p99 / alone),
            ...[run.sent, run.missing, run.deferred, run.dead].map(whole),
            percent(run.cpuShare),
          ]),
        ),
      ),
      ...(scenario.scrapes === true ? [scrapeTable(settings, runs)] : []),
    ],
    goals: settings.flatMap((setting) => {
      if (setting.judged !== true) return [];
      const its = of(setting);
      const sum = (figure: (run: Run) => number): number => its.reduce((all, run) => all + figure(run), 0);
      const beside = medianOf(its, p99);
      return [
        describeGoal(`${setting.title}: p99, to alone`, beside / alone, '≤', mostRatio, hundredths),
        describeGoal(`${setting.title}: p99, ms`, beside, '≤', most.p99Ms, tenths),
        describeGoal(
          `${setting.title}: healthy ones deferred, dead or missing`,
          sum((run) => run.deferred + run.dead + run.missing),
          '≤',
          0,
          whole,
        ),
        ...(scenario.scrapes === true ? scrapeGoals(setting, its) : []),
      ];
    }),
    accounts: runs.map(({ account }) => account),
    figures: runs,
  };
}

async function run(context: Context, scenario: Scenario, setting: Setting, name: string): Promise<Run> {
  const { options, receiver } = context;
  const { burst: burstEach = 0, perSecond, rateLimit } = setting;
  const { healthyPerSecond } = scenario;
  const { healthy, others } = await setting.listen(receiver);
  await using stage = await openStage(context, {
    name,
    urls: [...healthy, ...others],
    rateLimit: (place) => (place < healthy.length ? undefined : rateLimit),
  });
  const service = await stage.startService();

  const healthyPlaces = healthy.map((_, place) => place);
  const otherPlaces = others.map((_, place) => healthy.length + place);
  const warmUpSeconds = Math.min(longestWarmUpSeconds, options.besideSeconds);
  const warmUp = Math.max(warmUpPerSecond * warmUpSeconds, healthy.length);
  const measured = healthyPerSecond * options.besideSeconds;
  const burst = burstEach * others.length;
  const inflow = others.length > 0 ? perSecond * options.besideSeconds : 0;
  const wave = await stage.wave([
    ...inTurn(warmUp, healthyPlaces),
    ...inTurn(measured, healthyPlaces),
    ...inTurn(burst, otherPlaces),
    ...inTurn(inflow, otherPlaces),
  ]);
  const [from, burstFrom] = [warmUp, warmUp + measured];
  const inflowFrom = burstFrom + burst;
  await stage.feedAtRate(wave, warmUp / warmUpSeconds, { to: from });
  await stage.arrived(select(wave, { to: from }), settlesWithinMs);

  const meter = startCpuMeter({ delivery: service.pid });
  await Promise.all([
    stage.feedAtRate(wave, healthyPerSecond, { from, to: burstFrom }),
    stage.feedUnpaced(wave, { from: burstFrom, to: inflowFrom }),
    ...(inflow > 0 ? [stage.feedAtRate(wave, perSecond, { from: inflowFrom })] : []),
  ]);
  const cpuShare = (meter.read()['delivery'] ?? NaN) / options.besideSeconds;
  const indexes = select(wave, { from, to: burstFrom });
  await stage.arrived(indexes, settlesWithinMs);
  const scrapes: Record<string, Scrape> = {};
  if (scenario.scrapes === true) {
    for (const page of pages) {
      const its = await measureScrape(service.metricsPort, page);
      if (its) scrapes[page] = its;
    }
  }
  const { arrivals, copies, account } = await stage.conclude(wave);
  const { receivedAt } = arrivals;
  const began = wave.sentAt[from] ?? NaN;
  const first = indexes.filter((index) => (wave.sentAt[index] ?? NaN) < began + firstSeconds * 1_000);
  const count = (is: (index: number) => boolean): number => indexes.filter(is).length;
  return {
    setting: setting.name,
    sent: indexes.length,
    cpuShare,
    scrapes,
    account,
    latencyMs: latenciesOf(wave, receivedAt, indexes),
    firstMs: latenciesOf(wave, receivedAt, first),
    missing: count((index) => Number.isNaN(receivedAt[index] ?? NaN)),
    deferred: count((index) => (copies.deferrals[index] ?? 0) > 0),
    dead: count((index) => copies.deadFor[index] !== ''),
  };
}

/** Deliveries that did not arrive count as infinitely late. */
function latenciesOf(wave: Wave, receivedAt: Float64Array, indexes: readonly number[]): Distribution {
  return distribution(
    indexes.map((index) => {
      const at = receivedAt[index] ?? NaN;
      return Number.isNaN(at) ? Infinity : at - (wave.sentAt[index] ?? NaN);
    }),
  );
}

function scrapeTable(settings: readonly Setting[], runs: readonly Run[]): string {
  return table(
    ['a scrape', 'KB', 'series', 'ms', 'others held, ms'],
    runs.flatMap(({ setting, scrapes }) =>
      Object.entries(scrapes).map(([page, { bytes, series, tookMs, heldMs }]) => [
        `${page}, ${settings.find(({ name }) => name === setting)?.title ?? setting}`,
        ...[bytes / 1_000, series].map(whole),
        ...[tookMs, heldMs].map(tenths),
      ]),
    ),
  );
}

function scrapeGoals({ title }: Setting, runs: readonly Run[]): Goal[] {
  const worst = (figure: keyof Scrape, of: readonly string[]): number => {
    const figures = runs.flatMap(({ scrapes }) => of.map((page) => scrapes[page]?.[figure] ?? NaN));
    return figures.reduce((worst, value) => (value > worst ? value : worst), 0);
  };
  return [
    describeGoal(
      `${title}: /metrics, KB`,
      worst('bytes', ['/metrics']) / 1e3,
      '≤',
      most.scrapeBytes / 1e3,
      whole,
    ),
    describeGoal(
      `${title}: a scrape holds the event loop, ms`,
      worst('heldMs', pages),
      '≤',
      most.heldMs,
      tenths,
    ),
  ];
}
