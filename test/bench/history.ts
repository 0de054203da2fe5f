/**
 * `npm run bench:history`: fills the history of a control instance through its own write path, and measures every list, the
 * explanation of an event, the event loop and memory. The exit code is 1 if an answer is not as expected, never for being slow.
 */
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kafka, TailOptions } from '@tailrace/kafka';
import { names, newCluster, openApi, type Api } from '../../services/control/src/testing/api.ts';
import { count, readOptions, type CommandLine } from './command-line.ts';
import { describeMachine, renderMachine } from './figures/machine.ts';
import { peakBytes, residentBytes } from './figures/measure.ts';
import { mebibytes, table, tenths, whole } from './figures/table.ts';
import { batchesOf, deliveryOf, idOf, sizes } from './history/records.ts';
import { obey, say } from './processes/bench.ts';

interface Options {
  readonly deliveries: number;
  readonly requests: number;
}

const usage = `Usage: npm run bench:history -- [options]

Fills a history and measures the routes that read it, in one process without Kafka.

  --deliveries N  with one attempt each, over a week  (1000000)
  --requests N    of each kind                        (200)
  --help          this text
`;

function readCommandLine(args: readonly string[]): CommandLine<Options> {
  return readOptions(args, { usage, texts: ['deliveries', 'requests'] }, (values) => ({
    deliveries: count('deliveries', values.deliveries, 1_000_000),
    requests: count('requests', values.requests, 200),
  }));
}

await obey(readCommandLine(process.argv.slice(2)), measure);

async function measure({ deliveries, requests }: Options): Promise<void> {
  const machine = { ...describeMachine(), kafka: 'none' };
  const now = Date.now();
  const filled = Promise.withResolvers<undefined>();
  const startedAt = performance.now();
  const historyKafka = (kafka: Kafka): Kafka => ({
    ...kafka,
    tail: ({ onRecords }: TailOptions) => {
      void (async () => {
        for (const part of batchesOf(names, deliveries, now)) await onRecords([part]);
        filled.resolve(undefined);
      })().catch(filled.reject);
      return Promise.resolve({
        healthy: true,
        behind: 0,
        lagMs: 0,
        refresh: () => Promise.resolve(),
        close: () => Promise.resolve(),
      });
    },
  });
  await using control = await openApi(newCluster(), { TAILRACE_HISTORY_MAX_SIZE: '64GB' }, { historyKafka });
  await createEntries(control);
  say(`filling the history with ${whole(deliveries)} deliveries`);
  await filled.promise;
  const seconds = (performance.now() - startedAt) / 1_000;
  const filledBytes = residentBytes(process.pid);

  const rows = [];
  for (const [name, pathOf] of Object.entries(pathsOf(deliveries, now))) {
    rows.push(await measureRoute(control, name, pathOf, requests));
    say(rows.at(-1)?.join('  ') ?? '');
  }
  const bytes = control.historyBytes;
  const lines = [
    renderMachine(machine),
    '',
    `Filled with ${whole(deliveries)} deliveries in ${tenths(seconds)} s; ${mebibytes(bytes)} MiB, ` +
      `${whole(bytes / deliveries)} bytes a delivery with its attempt, dead letters and counts.`,
    `Resident: ${mebibytes(filledBytes)} MiB when filled, ${mebibytes(residentBytes(process.pid))} MiB at the end, peak ${mebibytes(peakBytes(process.pid))} MiB.`,
    '',
    table(['route', 'p50 ms', 'p99 ms', '20 at a time p99 ms', 'loop held ms', 'items'], rows),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function createEntries(control: Api): Promise<void> {
  for (let n = 0; n < sizes.sources; n++) {
    await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: `source-${n}` } });
  }
  for (let n = 0; n < 10; n++) {
    const settings = { webhooks: [{ url: 'https://crm.example.com/' }] };
    const body = { id: `destination-${n}`, type: 'Webhooks', settings };
    await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
}

/** Paths of each kind of request; the number varies the values. */
function pathsOf(deliveries: number, now: number): Readonly<Record<string, (n: number) => string>> {
  const one = (n: number): number => (n * 7_907) % deliveries;
  const event = encodeURIComponent('Event Name 0');
  const cursor = (n: number): string =>
    Buffer.from(JSON.stringify({ createdAt: now - (n % 160) * 3_600_000, id: idOf(n) })).toString(
      'base64url',
    );
  const letterCursor = (n: number): string =>
    Buffer.from(JSON.stringify({ diedAt: now - (n % 160) * 3_600_000, partition: 0, offset: 0 })).toString(
      'base64url',
    );
  return {
    deliveries: () => '/v1/deliveries?limit=200',
    'deliveries, any page': (n) => `/v1/deliveries?limit=200&cursor=${cursor(n)}`,
    'deliveries of a destination': (n) => `/v1/deliveries?limit=200&destination=destination-${n % 10}`,
    'deliveries, dead': () => '/v1/deliveries?limit=200&status=dead',
    'deliveries of an event name': () => `/v1/deliveries?limit=200&event=${event}`,
    'deliveries of a user': (n) => `/v1/deliveries?limit=200&userId=user-${n}`,
    'deliveries, three filters': (n) =>
      `/v1/deliveries?destination=destination-${n % 10}&status=dead&event=${event}`,
    'deliveries, filters that exclude each other': () => '/v1/deliveries?type=page&event=' + event,
    delivery: (n) => `/v1/deliveries/${idOf(one(n))}`,
    event: (n) => `/v1/events/${deliveryOf(one(n)).eventId}`,
    'event that was filtered': (n) => `/v1/events/filtered-${deliveryOf(20 * (n % 1_000) + 3).eventId}`,
    'filtered events': () => '/v1/decisions?limit=200',
    'filtered events of a destination': (n) =>
      `/v1/decisions?limit=200&reason=disabled&destination=destination-${n % 10}`,
    'filtered events, none matches': () => '/v1/decisions?limit=200&reason=filter&source=source-0',
    'stats, a week': (n) => `/v1/destinations/destination-${n % 10}/stats?since=7d`,
    'stats, an hour': (n) => `/v1/destinations/destination-${n % 10}/stats`,
    'failures, a week': (n) => `/v1/destinations/destination-${n % 10}/failures?since=7d`,
    'dead letters': () => '/v1/dead-letters?limit=200',
    'dead letters, any page': (n) => `/v1/dead-letters?limit=200&cursor=${letterCursor(n)}`,
    'dead letters, two filters': () => `/v1/dead-letters?limit=200&reason=attempts-exhausted&event=${event}`,
    'dead letters, summary': () => '/v1/dead-letters/summary',
    'dead letters, summary since': () => '/v1/dead-letters/summary?since=50h',
    'dead letters, summary of an event': () => `/v1/dead-letters/summary?event=${event}`,
    usage: (n) => `/v1/sources/source-${n % 10}/usage`,
  };
}

async function measureRoute(
  control: Api,
  name: string,
  pathOf: (n: number) => string,
  requests: number,
): Promise<string[]> {
  let items = 0;
  const ask = async (n: number): Promise<number> => {
    const startedAt = performance.now();
    const { status, json, text } = await control.ask({ path: pathOf(n) });
    assert.equal(status, 200, `${pathOf(n)}: ${text}`);
    items = Math.max(items, Array.isArray(json['items']) ? json['items'].length : 1);
    return performance.now() - startedAt;
  };
  for (let n = 0; n < 5; n++) await ask(n);
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const alone: number[] = [];
  for (let n = 0; n < requests; n++) {
    alone.push(await ask(n));
    await nextTurn();
  }
  loop.disable();
  const together: number[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < requests) together.push(await ask(next++));
  };
  await Promise.all(Array.from({ length: 20 }, client));
  const held = loop.max / 1e6;
  return [
    name,
    tenths(quantile(alone, 0.5)),
    tenths(quantile(alone, 0.99)),
    tenths(quantile(together, 0.99)),
    tenths(held),
    whole(items),
  ];
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
