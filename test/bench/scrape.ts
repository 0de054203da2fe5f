/**
 * Measures how long a scrape holds the event loop of delivery, and how large its text is, for a number of destinations: the
 * metrics and the server of the service, filled as after a day of all outcomes, without Kafka. The client is in another
 * thread, so that only the server's loop is measured. `node test/bench/scrape.ts [destinations]`.
 */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import type { Destination } from '@tailrace/config';
import { createMetrics, startProbeServer, watchConsumption } from '@tailrace/service';
import { DeliveryMetrics } from '../../services/delivery/src/observe/metrics.ts';
import { table } from './figures/table.ts';

interface Scrape {
  readonly url: string;
  readonly encoding: 'gzip' | 'identity';
}

interface Scraped {
  /** The bytes as received. */
  readonly bytes: number;
  readonly series: number;
  readonly ms: number;
}

const rounds = 10;
const topics = 12;
const partitions = 200;

if (isMainThread) await measure(Number(process.argv[2] ?? 10_000));
else serveScrapes();

async function measure(count: number): Promise<void> {
  const metrics = createMetrics();
  fill(metrics, count);
  const server = await startProbeServer({ port: 0, metrics, readiness: () => ({ ready: true, checks: [] }) });
  const client = new Worker(new URL(import.meta.url));
  const rows: string[][] = [['idle', '', '', '', '', ...(await heldDuring(() => sleep(2_000)))]];
  for (const page of ['', '/destinations', '/partitions']) {
    for (const encoding of ['identity', 'gzip'] as const) {
      const url = `http://127.0.0.1:${server.port}/metrics${page}`;
      const scrape = async (): Promise<Scraped> => {
        client.postMessage({ url, encoding } satisfies Scrape);
        const [scraped] = (await once(client, 'message')) as [Scraped];
        return scraped;
      };
      await scrape();
      const scraped: Scraped[] = [];
      const delays = await heldDuring(async () => {
        for (let round = 0; round < rounds; round += 1) scraped.push(await scrape());
      });
      const [{ bytes, series } = { bytes: NaN, series: NaN }] = scraped;
      const ms = scraped.reduce((sum, { ms }) => sum + ms, 0) / rounds;
      rows.push([`/metrics${page}`, encoding, `${series}`, `${bytes}`, ms.toFixed(0), ...delays]);
    }
  }
  const heads = ['page', 'encoding', 'series', 'bytes', 'ms a scrape', 'work, ms', 'delay, ms', 'p99, ms'];
  console.log(
    `${count} destinations, ${topics} topics of ${partitions} partitions, ${rounds} scrapes each\n`,
  );
  console.log(table(heads, rows));
  console.log(
    '\nwork: the most CPU time of one turn of the event loop. delay: the latest that a timer was, and its p99;',
  );
  console.log('other processes of the machine and threads of this one are in it, as the row idle shows.');
  await client.terminate();
  await server.close();
  process.exit();
}

/** Every destination has delivered up to a hundred times, failed for three reasons, dead letters, and deferred, behind and parked deliveries. */
function fill(metrics: ReturnType<typeof createMetrics>, count: number): void {
  const destinations = new Map(
    Array.from({ length: count }, (_, nth) => {
      const id = `destination-${String(nth).padStart(6, '0')}`;
      const settings = { webhooks: [] };
      return [id, { id, type: 'Webhooks', enabled: true, sources: [], settings } satisfies Destination];
    }),
  );
  const config = { destination: (id: string) => destinations.get(id), onChange: () => () => true };
  const log = { info: () => undefined, warn: () => undefined };
  const deliveries = new DeliveryMetrics(metrics, { config, log, logAttempts: 'none' });
  for (const destinationId of destinations.keys()) {
    const attempt = {
      deliveryId: 'd',
      eventId: 'e',
      sourceId: 's',
      destinationId,
      type: 'track',
      userKey: 'ada',
      attempt: 1,
      startedAt: '2026-11-21T09:43:25.118Z',
      latencyMs: Math.random() * 1_000,
      urls: [],
    };
    const times = Math.ceil(Math.random() * 100);
    for (let time = 0; time < times; time += 1) {
      deliveries.attempted({ ...attempt, outcome: 'delivered' }, Math.random() * 5_000);
    }
    for (const reason of ['timeout', 'server-error', 'connection-refused']) {
      deliveries.attempted({ ...attempt, outcome: 'retry', reason }, 12);
    }
    deliveries.deadLetter(destinationId, 'attempts-exhausted');
    deliveries.waits(destinationId, 'deferred');
    deliveries.waits(destinationId, 'behind');
    deliveries.waits(destinationId, 'parked');
  }
  const owned = Array.from({ length: topics * partitions }, (_, place) => {
    const [topic, partition] = [`tailrace.topic-${place % topics}`, Math.trunc(place / topics)];
    return { topic, partition, next: place, end: place, uncommitted: place, lag: place };
  });
  watchConsumption(metrics, {
    topics: Array.from({ length: topics }, (_, nth) => `tailrace.topic-${nth}`),
    partitions: owned,
    lags: () =>
      owned.map(({ topic, partition, lag }) => {
        return { topic, partition, ageMs: lag, lateMs: lag, isPaused: false, retentionUsed: 0.1 };
      }),
    totals: { rebalances: 0, withoutWorkMs: 0, commitFailures: 0, untraced: 0, expired: new Map() },
    uncommittedMs: 0,
  });
}

async function heldDuring(work: () => Promise<unknown>): Promise<[string, string, string]> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let most = 0;
  let measuring = true;
  let last = process.threadCpuUsage();
  const turn = (): void => {
    const now = process.threadCpuUsage();
    most = Math.max(most, now.user + now.system - last.user - last.system);
    last = now;
    if (measuring) setImmediate(turn);
  };
  setImmediate(turn);
  delay.enable();
  await work();
  delay.disable();
  measuring = false;
  return [
    (most / 1e3).toFixed(1),
    ...([delay.max, delay.percentile(99)].map((ns) => (ns / 1e6).toFixed(1)) as [string, string]),
  ];
}

function serveScrapes(): void {
  parentPort?.on('message', ({ url, encoding }: Scrape) => {
    void (async () => {
      const startedAt = performance.now();
      const response = await new Promise<IncomingMessage>((resolve) =>
        get(url, { headers: { 'accept-encoding': encoding } }, resolve),
      );
      const bytes = Buffer.concat((await response.toArray()) as Buffer[]);
      const ms = performance.now() - startedAt;
      const text = response.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
      const lines = text.toString().split('\n');
      const series = lines.filter((line) => line !== '' && !line.startsWith('#')).length;
      parentPort?.postMessage({ bytes: bytes.length, series, ms } satisfies Scraped);
    })();
  });
}
