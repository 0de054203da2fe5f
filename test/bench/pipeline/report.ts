/** The report: every figure of a run as a table. */
import { chainRoles } from './bare-chain.ts';
import { partTitles, partsOfServices, type PartCosts, type PartName } from './bare-parts.ts';
import { mapValues, type ByProcess } from '../figures/measure.ts';
import { renderMachine, type Machine } from '../figures/machine.ts';
import type { Options } from './options.ts';
import { total, type Account, type Latencies, type RunResult } from './run.ts';
import { serviceNames } from './services.ts';
import { isFlat, median, spread, type Trend } from '../figures/statistics.ts';
import { hundredths, percent, table, tenths, whole, type Format, type Row } from '../figures/table.ts';

export interface Results {
  readonly machine: Machine;
  /** CPU time of a fixed amount of work. */
  readonly calibrationMs: number;
  readonly options: Options;
  readonly warmUp: Account;
  readonly burst?: readonly RunResult[] | undefined;
  readonly steady?: RunResult | undefined;
  readonly soak?: Soak | undefined;
  readonly parts?: PartCosts | undefined;
  /** The share of one core of each client, and of the broker. */
  readonly chain?: ByProcess | undefined;
  /** The bare forwarder. */
  readonly limit?: { readonly burst: RunResult; readonly steady: RunResult } | undefined;
}

export interface Soak {
  readonly run: RunResult;
  /** Resident bytes of each process. */
  readonly memory: Readonly<Record<string, Trend>>;
}

/** CPU time of Tailrace beside that of the bare parts, in microseconds an event, without the broker. */
export interface Comparison {
  readonly name: string;
  readonly parts: readonly PartName[];
  readonly ours: number;
  readonly bare: number;
}

/** One for each service, and one for all. */
export function compareWithParts(burst: readonly RunResult[], costs: PartCosts): Comparison[] {
  const services = serviceNames.map((name): Comparison => {
    const parts = partsOfServices[name];
    return {
      name,
      parts,
      ours: median(burst.map(({ cpuMicroseconds }) => cpuMicroseconds[name] ?? NaN)),
      bare: parts.reduce((sum, part) => sum + costs[part].median, 0),
    };
  });
  const all = {
    ours: median(burst.map(({ cpuMicroseconds }) => servicesCpu(cpuMicroseconds))),
    bare: services.reduce((sum, { bare }) => sum + bare, 0),
  };
  return [...services, { name: 'all services', parts: [], ...all }];
}

/** CPU time of all services for an event. */
export function servicesCpu(cpu: ByProcess): number {
  return serviceNames.reduce((sum, name) => sum + (cpu[name] ?? NaN), 0);
}

/** All calls sent, warm-up included. */
export function accountOf({ warmUp, burst = [], steady, soak }: Results): Account {
  const runs = [...burst, steady, soak?.run].filter((run) => run !== undefined);
  return total([warmUp, ...runs.map(({ account }) => account)]);
}

/** Whether every call arrived unaltered and with a valid signature. */
export function isSound({ lost, unexpected, faults }: Account): boolean {
  return lost + unexpected + faults.length === 0;
}

/** The figures that runs are compared by. */
export function figuresOf({ options, burst, steady, chain }: Results): Record<string, number> {
  const { inFlight, rate, spacing, partitions } = options;
  const figures: Record<string, number> = {};
  if (burst) {
    const title = `${inFlight} in flight, ${partitions} partitions`;
    figures[`${title}: delivered a second`] = median(burst.map((run) => run.deliveredPerSecond));
    figures[`${title}: CPU an event, services, µs`] = median(
      burst.map(({ cpuMicroseconds }) => servicesCpu(cpuMicroseconds)),
    );
  }
  if (steady) {
    const { cpuShare, latencyMs } = steady;
    const title = `${rate} a second, ${spacing}`;
    figures[`${title}: CPU of services, % of a core`] = servicesCpu(cpuShare) * 100;
    figures[`${title}: CPU of the broker, % of a core`] = (cpuShare['broker'] ?? NaN) * 100;
    figures[`${title}: sent → received, p50, ms`] = latencyMs.sentToReceived.p50;
    figures[`${title}: sent → received, p99, ms`] = latencyMs.sentToReceived.p99;
    if (chain)
      figures[`${title}: services beside the bare chain, %`] = besideChain(cpuShare, chain).services * 100;
  }
  return figures;
}

export function renderReport(results: Results): string {
  const { burst, steady, soak, parts, chain, limit } = results;
  return [
    head(results),
    ...(burst ? [burstTable(results.options, burst)] : []),
    ...(steady ? [steadyTable(results.options, steady)] : []),
    ...(soak ? [soakTable(soak)] : []),
    ...(parts ? [partsTable(parts)] : []),
    ...(parts && burst ? [comparisonTable(compareWithParts(burst, parts))] : []),
    ...(chain ? [chainText(chain, steady?.cpuShare)] : []),
    ...(burst && steady && limit ? [peersTable(burst, steady, limit)] : []),
    verdict(accountOf(results)),
  ].join('\n\n');
}

function head({ machine, options }: Results): string {
  return [
    `Tailrace pipeline bench, ${renderMachine(machine)}`,
    `Track calls of 1,024 bytes, one destination with one URL and a shared secret, ` +
      `${options.partitions} partitions; ${whole(options.warmUp)} calls of warm-up`,
    ...(options.profileFolder === undefined ? [] : ['With profiling: CPU times are higher than without.']),
  ].join('\n');
}

function burstTable({ events, inFlight }: Options, runs: readonly RunResult[]): string {
  const row = (title: string, figure: (run: RunResult) => number, format: Format): Row => {
    const { median, min, max } = spread(runs.map(figure));
    return [title, format(median), format(min), format(max)];
  };
  const names = Object.keys(runs[0]?.cpuMicroseconds ?? {});
  const others = names.filter((name) => !serviceNames.some((service) => service === name));
  const cpuRow = (name: string, title: string): Row =>
    row(title, ({ cpuMicroseconds }) => cpuMicroseconds[name] ?? NaN, whole);
  const latency = (title: string, key: keyof Latencies): Row[] =>
    (['p50', 'p99'] as const).map((point) =>
      row(`${title}, ${point}, ms`, ({ latencyMs }) => latencyMs[key][point], tenths),
    );
  return table(
    [`Burst: ${whole(events)} calls, ${inFlight} in flight`, `median of ${runs.length}`, 'min', 'max'],
    [
      row('delivered a second', (run) => run.deliveredPerSecond, whole),
      row('CPU an event, all services, µs', (run) => servicesCpu(run.cpuMicroseconds), whole),
      ...serviceNames.map((name) => cpuRow(name, `  ${name}`)),
      ...others.map((name) => cpuRow(name, `apart: ${name}, µs`)),
      ...latency('call sent → received', 'sentToReceived'),
      ...latency('200 answered → received', 'acceptedToReceived'),
      ...latency('call sent → 200', 'sentToAccepted'),
    ],
  );
}

function steadyTable({ rate, rateSeconds, spacing }: Options, { latencyMs, cpuShare }: RunResult): string {
  const titles: Readonly<Record<keyof Latencies, string>> = {
    sentToReceived: 'call sent → received, ms',
    dueToReceived: 'call due → received, ms',
    acceptedToReceived: '200 answered → received, ms',
    sentToAccepted: 'call sent → 200, ms',
  };
  const rows = Object.entries(titles).map(([key, title]): Row => {
    const { p50, p99, max } = latencyMs[key as keyof Latencies];
    return [title, tenths(p50), tenths(p99), tenths(max)];
  });
  return (
    table([`Steady: ${rate} calls a second (${spacing}) for ${rateSeconds} s`, 'p50', 'p99', 'max'], rows) +
    `\n  CPU, of one core: ${sharesText(cpuShare)}`
  );
}

function sharesText(cpuShare: ByProcess): string {
  return Object.entries(cpuShare)
    .map(([name, share]) => `${name} ${(share * 100).toFixed(1)} %`)
    .join(', ');
}

function chainText(chain: ByProcess, ours: ByProcess | undefined): string {
  const lines = [`Bare chain at the same rate, CPU, of one core: ${sharesText(chain)}`];
  if (ours) {
    const { services, broker } = besideChain(ours, chain);
    lines.push(`  ours beside it: services ${hundredths(services)}, broker ${hundredths(broker)}`);
  }
  return lines.join('\n');
}

/** CPU time of the services beside that of the three clients, and of the broker beside that of the broker then. */
function besideChain(ours: ByProcess, chain: ByProcess): { services: number; broker: number } {
  const clients = chainRoles.reduce((sum, role) => sum + (chain[role] ?? NaN), 0);
  return {
    services: servicesCpu(ours) / clients,
    broker: (ours['broker'] ?? NaN) / (chain['broker'] ?? NaN),
  };
}

/** In the form in which other products are measured with the same load generator and receiver. */
function peersTable(
  burst: readonly RunResult[],
  steady: RunResult,
  limit: NonNullable<Results['limit']>,
): string {
  const row = (
    title: string,
    burst: readonly RunResult[],
    steady: RunResult,
    names: readonly string[],
  ): Row => {
    const cpu = ({ cpuMicroseconds }: RunResult): number =>
      names.reduce((sum, name) => sum + (cpuMicroseconds[name] ?? NaN), 0);
    const { p50, p99 } = steady.latencyMs.sentToReceived;
    return [
      title,
      whole(median(burst.map((run) => run.deliveredPerSecond))),
      whole(median(burst.map(cpu))),
      tenths(p50),
      tenths(p99),
      percent(names.reduce((sum, name) => sum + (steady.cpuShare[name] ?? NaN), 0)),
    ];
  };
  return table(
    ['', 'delivered a second', 'CPU an event, µs', 'steady p50, ms', 'p99, ms', 'CPU of a core'],
    [
      row('Tailrace and its broker', burst, steady, [...serviceNames, 'broker']),
      row('the limit: a bare forwarder', [limit.burst], limit.steady, ['forwarder']),
    ],
  );
}

function soakTable({ run, memory }: Soak): string {
  const { sent, lost, repeated } = run.account;
  const rows = Object.entries(memory).map(([name, trend]): Row => {
    const { first, last, max } = mapValues({ ...trend }, (bytes) => whole(bytes / 2 ** 20)) as Record<
      keyof Trend,
      string
    >;
    return [`  ${name}`, first, last, max, isFlat(trend) ? 'flat' : 'GROWS'];
  });
  return (
    `Soak: ${whole(sent)} calls, ${lost} lost, ${repeated} repeated, ` +
    `${whole(run.deliveredPerSecond)} delivered a second\n` +
    table(['  resident memory, MiB', 'first third', 'last third', 'peak', ''], rows)
  );
}

function partsTable(costs: PartCosts): string {
  const rows = (Object.keys(partTitles) as PartName[]).map((name): Row => {
    const { median, min, max } = costs[name];
    return [partTitles[name], tenths(median), tenths(min), tenths(max)];
  });
  return table(['Bare parts, CPU of the part alone, µs', 'median', 'min', 'max'], rows);
}

function comparisonTable(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map(({ name, parts, ours, bare }): Row => {
    const sum = parts.length > 0 ? `${name} = ${parts.join(' + ')}` : name;
    return [sum, whole(ours), whole(bare), (ours / bare).toFixed(2)];
  });
  return table(['Ours beside the sum of bare parts, broker apart, µs', 'ours', 'bare', 'ratio'], rows);
}

function verdict(account: Account): string {
  const { sent, lost, repeated, unexpected, checked, faults } = account;
  return [
    `${isSound(account) ? 'Sound' : 'NOT SOUND'}: ${whole(sent)} calls sent, ${lost} lost, ${repeated} repeated, ` +
      `${unexpected} unexpected; ${checked} bodies and signatures checked, ${faults.length} wrong`,
    ...faults.slice(0, 5).map((fault) => `  ${fault}`),
  ].join('\n');
}
