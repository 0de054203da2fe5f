/**
 * `npm run bench:console`: control as a process with a history, and every page of the console in Chromium. Reports the time of the server
 * for each request, bytes, long tasks, layout shift, and the memory of control. The exit code is 1 if the history is not complete, never
 * for being slow.
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@tailrace/local';
import { topicNames } from '@tailrace/topology';
import { openBrowser, settled, type ConsoleBrowser } from '../support/console/browser.ts';
import { placesOf, type Place } from '../support/console/places.ts';
import { createVisitor } from '../support/console/visits.ts';
import { scroll, visitTimed, type TimedVisit } from './console/timed.ts';
import { count, readOptions, type CommandLine } from './command-line.ts';
import { configure, topicSettings, writeHistory } from './console/fill.ts';
import { report, type Memory, type Results } from './console/report.ts';
import { peakBytes, residentBytes } from './figures/measure.ts';
import { mebibytes } from './figures/table.ts';
import { deliveryOf, idOf, isDead } from './history/records.ts';
import { obey, runBench, say, type Bench } from './processes/bench.ts';
import { openKafka } from './processes/kafka.ts';
import { spawnService, type ServiceProcess } from './processes/service-process.ts';

interface Options {
  readonly deliveries: number;
  readonly rounds: number;
  readonly rows: number;
}

const usage = `Usage: npm run bench:console -- [options]

Opens every page of the console on control with a long history, on a broker of its own.

  --deliveries N  of a week, with one attempt each  (1000000)
  --rounds N      visits of each page               (10)
  --rows N        of the list that is scrolled      (100000)
  --help          this text
`;

function readCommandLine(args: readonly string[]): CommandLine<Options> {
  return readOptions(args, { usage, texts: ['deliveries', 'rounds', 'rows'] }, (values) => ({
    deliveries: count('deliveries', values.deliveries, 1_000_000),
    rounds: count('rounds', values.rounds, 10),
    rows: count('rows', values.rows, 100_000),
  }));
}

const token = 'bench-console-token';
const rowsPerRequest = 200;
const scrollFrames = 300;

await obey(readCommandLine(process.argv.slice(2)), (options) =>
  runBench((bench) => measure(bench, options), report),
);

async function measure(bench: Bench, { deliveries, rounds, rows }: Options): Promise<Results> {
  const { machine, brokers, folder, resources } = bench;
  // First: it builds the console where it is older than its sources, and control reads it at its start.
  const browser = resources.use(await openBrowser());
  const names = topicNames('tailrace.');
  const kafka = openKafka(brokers);
  resources.defer(() => kafka.close());
  await configure(kafka, names);
  const port = await freePort();
  const control = resources.use(
    await spawnService({
      name: 'control',
      logFile: path.join(folder, 'control.log'),
      env: {
        ...topicSettings,
        KAFKA_BROKERS: brokers.join(','),
        TAILRACE_CONTROL_PORT: String(port),
        TAILRACE_API_TOKEN: token,
        // One session makes all requests here.
        TAILRACE_API_RATE_LIMIT: '100000',
        TAILRACE_DATA_DIR: path.join(folder, 'data'),
      },
    }),
  );
  await Promise.race([control.ready, control.died]);
  const memory: Memory[] = [];
  const remember = (when: string): void => {
    const taken = { when, resident: residentBytes(control.pid), peak: peakBytes(control.pid) };
    memory.push(taken);
    say(`${when}: control has ${mebibytes(taken.resident)} MiB, at most ${mebibytes(taken.peak)} MiB`);
  };
  remember('started');

  const url = `http://127.0.0.1:${port}/`;
  const now = Date.now();
  const fillingSince = performance.now();
  const filled = fill(control, () => writeHistory(brokers[0] ?? '', names, deliveries, now), url);
  const counted = await Promise.race([filled, control.died, bench.brokerDied]);
  const fillSeconds = (performance.now() - fillingSince) / 1_000;
  remember('filled');

  const places = placesOfHistory(deliveries);
  const visits = new Map<Place, TimedVisit[]>(places.map((place) => [place, []]));
  for (let round = 0; round < rounds; round += 1) {
    say(`visits of all pages: ${round + 1} of ${rounds}`);
    await visitAll(browser, url, visits);
  }
  remember('pages visited');
  const list = await scrollList(browser, url, rows);
  remember('list scrolled');
  return { machine, deliveries, counted, fillSeconds, visits, rows, ...list, memory };
}

/** Resolves with the number of deliveries that the history has, when it has read all records. */
async function fill(control: ServiceProcess, write: () => Promise<void>, url: string): Promise<number> {
  await write();
  say('written; waiting for the history');
  const headers = { authorization: `Bearer ${token}` };
  for (let quiet = 0; ;) {
    const answer = await fetch(`${url}v1/overview?since=8d`, { headers });
    const { total, behind } = (await answer.json()) as {
      readonly total: Readonly<Record<'waiting' | 'retrying' | 'delivered' | 'dead', number>>;
      readonly behind: number;
    };
    // The history learns of records behind with its next fetch.
    quiet = behind === 0 ? quiet + 1 : 0;
    if (quiet === 5) return total.waiting + total.retrying + total.delivered + total.dead;
    say(`  ${behind} records behind, ${mebibytes(residentBytes(control.pid))} MiB`);
    await sleep(2_000);
  }
}

function placesOfHistory(deliveries: number): readonly Place[] {
  let n = deliveries - 1;
  while (!isDead(n)) n -= 1;
  const { eventId, eventName, type } = deliveryOf(n);
  return placesOf({
    delivery: [idOf(n), eventName ?? type],
    eventId,
    source: ['source-0', 'source-0'],
    // The one with the most deliveries.
    destination: ['destination-0', 'destination-0'],
    failing: ['destination-0', 'destination-0'],
    waiting: ['destination-0', 'destination-0'],
  });
}

/** Each round is a new visitor, whose browser has nothing in its cache. */
async function visitAll(
  browser: ConsoleBrowser,
  url: string,
  visits: Map<Place, TimedVisit[]>,
): Promise<void> {
  const { page } = await browser.open(url, { token, isBlank: true });
  const visitor = await createVisitor(page, url);
  for (const [place, all] of visits) all.push(await visitTimed(page, visitor, place));
  await page.context().close();
}

async function scrollList(browser: ConsoleBrowser, url: string, rows: number) {
  const { page } = await browser.open(url, { token });
  const visitor = await createVisitor(page, url);
  await visitor.visit({ name: 'list', hash: '#/deliveries', heading: 'Deliveries' });
  const list = page.getByRole('listbox', { name: 'Deliveries' });
  for (let end = rowsPerRequest; end < rows; end += rowsPerRequest) {
    await list.locator(`[aria-setsize="${end}"]`).first().waitFor();
    await list.press('End');
  }
  await list.locator(`[aria-setsize="${rows}"]`).first().waitFor();
  await settled(page);
  say(`${rows} rows loaded; scrolling`);
  const listRequests = await visitor.requests();
  const scrolled = await scroll(page, 'Deliveries', scrollFrames);
  await page.context().close();
  return { scrolled, scrollFrames, listRequests };
}
