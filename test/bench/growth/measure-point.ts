/** Measures one point of a curve, with calls of all sources in turn. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Destination } from '@tailrace/config';
import { mapValues, peakBytes, startCpuMeter, type ByProcess } from '../figures/measure.ts';
import { createLoad, type Load } from '../load/load.ts';
import { writeKeyOf } from '../pipeline/services.ts';
import type { Bench } from '../processes/bench.ts';
import { until } from '../processes/clock.ts';
import { startCounter, type Counter } from '../receivers/counter.ts';
import type { Shape } from './curves.ts';
import { install, sourceOf, type Installation } from './installation.ts';

/** Of a point, by process, or by way of a change. */
export interface Figures {
  /** Of a delivery. */
  readonly cpuMicroseconds: ByProcess;
  readonly peakMebibytes: ByProcess;
  readonly startSeconds: ByProcess;
  /** From the change of a destination until a delivery shows it. */
  readonly changeSeconds: ByProcess;
  /** Deliveries. Below 0 if some were repeated. */
  readonly lost: number;
}

export interface PointOptions {
  readonly shape: Shape;
  readonly measuresChange: boolean;
  readonly profileFolder: string | undefined;
}

const deliveries = 20_000;
/** Each receiver has some of many destinations. */
const mostOrigins = 100;
const arriveWithinMs = 120_000;
/** Attempts are recorded and read, and offsets committed, shortly after the last delivery. */
const settleMs = 2_000;

export async function measurePoint(bench: Bench, options: PointOptions): Promise<Figures> {
  const { shape, measuresChange, profileFolder } = options;
  const { sources, fanOut, bodyBytes } = shape;
  const counter = bench.resources.use(await startCounter(Math.min(sources * fanOut, mostOrigins)));
  const system = await install(bench, shape, counter.origins, { profileFolder });
  const { pids, startSeconds, ports, failed } = system;
  const unlessFailed = <T>(work: Promise<T>): Promise<T> => Promise.race([work, failed]);
  const loadOf = (turns: number): Load =>
    createLoad({
      port: ports.ingest,
      path: '/v1/track',
      headers: { 'content-type': 'application/json' },
      body: callsOf(turns, bodyBytes),
    });

  const load = loadOf(sources);
  const run = async (): Promise<number> => {
    const count = Math.ceil(deliveries / fanOut);
    const wanted = counter.arrived + count * fanOut;
    await load.closedLoop({ count, inFlight: 64 });
    await until(() => counter.arrived >= wanted, arriveWithinMs);
    await sleep(settleMs);
    return wanted - counter.arrived;
  };
  const lostBefore = await unlessFailed(run());
  const meter = startCpuMeter({ ...pids, ...(bench.brokerPid !== undefined && { broker: bench.brokerPid }) });
  const lost = lostBefore + (await unlessFailed(run()));
  const cpuMicroseconds = mapValues(meter.read(), (seconds) => (seconds * 1e6) / deliveries);
  const changeSeconds = measuresChange ? await unlessFailed(measureChange(system, counter, loadOf(1))) : {};
  const peakMebibytes = mapValues(pids, (pid) => peakBytes(pid) / 2 ** 20);
  return { cpuMicroseconds, peakMebibytes, startSeconds, changeSeconds, lost };
}

/** Changes the URL of the first destination of the first source, whose calls `load` sends. */
async function measureChange(
  { configuration, ports, token, apply }: Installation,
  counter: Counter,
  load: Load,
): Promise<ByProcess> {
  const [before] = configuration.destinations;
  if (!before) return {};
  const ways: Readonly<Record<string, (changed: Destination) => Promise<void>>> = {
    async API({ id, settings: { webhooks } }) {
      const response = await fetch(`http://127.0.0.1:${ports.control}/v1/destinations/${id}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ settings: { webhooks } }),
      });
      if (!response.ok)
        throw new Error(`the change was answered ${response.status}: ${await response.text()}`);
    },
    apply: (changed) => apply({ sources: [], destinations: [changed] }),
  };
  const seconds: Record<string, number> = {};
  for (const [way, change] of Object.entries(ways)) {
    const webhooks = [{ url: `${counter.origins[0]}/${way}` }];
    const beganAt = performance.now();
    const changing = change({ ...before, settings: { ...before.settings, webhooks } });
    const shown = until(async () => {
      await load.closedLoop({ count: 1, inFlight: 1 });
      return counter.has(`/${way}`);
    }, arriveWithinMs);
    await Promise.all([changing, shown]);
    seconds[way] = counter.has(`/${way}`) ? ((await shown) - beganAt) / 1_000 : NaN;
  }
  return seconds;
}

/** Bodies of calls, of as many sources in turn, each of `bytes`, which hardly compress. */
function callsOf(sources: number, bytes: number): (number: number) => string {
  const run = randomBytes(6).toString('hex');
  const noise = randomBytes(2 ** 19).toString('base64');
  const render = (number: number, padding: string): string =>
    `{"messageId":"growth-${run}-${String(number).padStart(8, '0')}","writeKey":"${writeKeyOf(sourceOf(number % sources))}",` +
    `"type":"track","userId":"user-${String(number % 1_000).padStart(3, '0')}","event":"Order Completed","properties":{"note":"${padding}"}}`;
  const length = bytes - render(0, '').length;
  return (number) => {
    const from = (number * length) % (noise.length - length);
    return render(number, noise.slice(from, from + length));
  };
}
