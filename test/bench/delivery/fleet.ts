/**
 * Measures the latest delivery to a healthy destination when twenty of a hundred destinations fail in four ways.
 * Unpaced, the speed of the machine decides, so the run is repeated with all destinations healthy and with the bare
 * loop. Paced, the failing destinations decide.
 */
import { say } from '../processes/bench.ts';
import type { Behaviour } from '../receivers/receiver.ts';
import type { Distribution } from '../figures/statistics.ts';
import { table, tenths, whole, type Row } from '../figures/table.ts';
import type { Account } from './account.ts';
import { startBareLoop } from './bare-loop.ts';
import { refusingUrl } from './isolation.ts';
import { scrape } from './metrics.ts';
import { describeGoal, type Report } from './report.ts';
import { openStage, type Context } from './stage.ts';
import { inTurn, latencies, select, throughput } from './wave.ts';

interface Run {
  readonly title: string;
  readonly latencyMs: Distribution;
  readonly perSecond: number;
  readonly parked: number;
  readonly deferred: number;
  readonly account?: Account;
}

const destinations = 100;
/** Every fifth destination fails. */
const isHealthy = (destination: number): boolean => destination % 5 !== 4;
const allDestinations = Array.from({ length: destinations }, (_, place) => place);
const arrivesWithinMs = 60_000;

export async function measureFleet(context: Context): Promise<Report> {
  const { fleetEvents, fleetRate } = context.options;
  const unpaced = 'unpaced';
  const paced = `${fleetRate}/s`;
  const runs = [
    await bareRun(context, `bare loop, all healthy, ${unpaced}`),
    await run(context, { name: 'fleet-healthy', title: `all healthy, ${unpaced}`, failing: false }),
    await run(context, { name: 'fleet-failing', title: `20 of 100 fail, ${unpaced}`, failing: true }),
    await run(context, {
      name: 'fleet-healthy-paced',
      title: `all healthy, ${paced}`,
      failing: false,
      fleetRate,
    }),
    await run(context, {
      name: 'fleet-failing-paced',
      title: `20 of 100 fail, ${paced}`,
      failing: true,
      fleetRate,
    }),
  ];
  const latest = (place: number): number => (runs[place]?.latencyMs.max ?? NaN) / 1_000;
  return {
    title: `Fleet: 100 destinations, ${fleetEvents} deliveries; of the 80 that are healthy in each run`,
    tables: [
      table(
        ['', 'p50 ms', 'p99 ms', 'latest ms', '/s', 'parked', 'deferred'],
        runs.map(({ title, latencyMs, perSecond, parked, deferred }): Row => {
          const { p50, p99, max } = latencyMs;
          return [title, ...[p50, p99, max, perSecond, parked, deferred].map(whole)];
        }),
      ),
    ],
    goals: [
      describeGoal(`latest healthy delivery, s, 20 of 100 fail, ${unpaced}`, latest(2), '≤', 2, tenths),
      describeGoal(`latest healthy delivery, s, 20 of 100 fail, ${paced}`, latest(4), '≤', 2, tenths),
    ],
    accounts: runs.flatMap(({ account }) => (account ? [account] : [])),
    figures: runs,
  };
}

async function run(
  context: Context,
  { name, title, failing, fleetRate }: { name: string; title: string; failing: boolean; fleetRate?: number },
): Promise<Run> {
  say(`fleet: ${title}`);
  const { options, receiver } = context;
  await using stage = await openStage(context, { name, urls: await listen(receiver, failing) });
  const service = await stage.startService();
  const { warmUp, fleetEvents } = options;
  // The warm-up leaves out the failing destinations, so that their breakers are closed when the measured deliveries start.
  const wave = await stage.wave([
    ...inTurn(warmUp, allDestinations.filter(isHealthy)),
    ...inTurn(fleetEvents, allDestinations),
  ]);
  await stage.feedUnpaced(wave, { to: warmUp });
  await stage.arrived(select(wave, { to: warmUp }), arrivesWithinMs);
  if (fleetRate === undefined) await stage.feedUnpaced(wave, { from: warmUp });
  else await stage.feedAtRate(wave, fleetRate, { from: warmUp });
  await stage.arrived(select(wave, { of: isHealthy }), arrivesWithinMs);
  const metrics = await scrape(service.metricsPort);
  const { arrivals, account } = await stage.conclude(wave);
  const healthy = { from: warmUp, of: isHealthy };
  return {
    title,
    account,
    latencyMs: latencies(wave, arrivals.receivedAt, healthy),
    perSecond: throughput(wave, arrivals.receivedAt, healthy),
    parked: metrics.sum('tailrace_deliveries_parked_total'),
    deferred: metrics.sum('tailrace_deliveries_put_off_total'),
  };
}

async function bareRun(context: Context, title: string): Promise<Run> {
  say(`fleet: ${title}`);
  const { options, receiver } = context;
  const urls = await listen(receiver, false);
  await using stage = await openStage(context, { name: 'fleet-bare', urls });
  await using disposables = new AsyncDisposableStack();
  disposables.use(await startBareLoop(context, stage, { topic: stage.topics.deliveries, urls }));
  const { warmUp, fleetEvents } = options;
  const wave = await stage.wave(inTurn(warmUp + fleetEvents, allDestinations));
  await stage.feedUnpaced(wave, { to: warmUp });
  await stage.arrived(select(wave, { to: warmUp }), arrivesWithinMs);
  await stage.feedUnpaced(wave, { from: warmUp });
  await stage.arrived(select(wave, {}), arrivesWithinMs);
  const { receivedAt } = await receiver.handOver();
  const healthy = { from: warmUp, of: isHealthy };
  return {
    title,
    latencyMs: latencies(wave, receivedAt, healthy),
    perSecond: throughput(wave, receivedAt, healthy),
    parked: NaN,
    deferred: NaN,
  };
}

/** Opens one endpoint for each destination; the failing ones fail in four ways in turn. */
async function listen(receiver: Context['receiver'], failing: boolean): Promise<string[]> {
  const behaviours = allDestinations.map((place): Behaviour => {
    if (!failing || isHealthy(place)) return { kind: 'answers' };
    const kinds = ['fails', 'is silent', 'resets', 'answers'] as const;
    return { kind: kinds[Math.floor(place / 5) % 4] ?? 'fails' };
  });
  const urls = await receiver.listen(behaviours);
  return urls.map((url, place) =>
    failing && !isHealthy(place) && behaviours[place]?.kind === 'answers' ? refusingUrl(place) : url,
  );
}
