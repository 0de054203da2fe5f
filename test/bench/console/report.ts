/** The report of the bench of the console. */
import type { Place } from '../../support/console/places.ts';
import type { AnsweredRequest } from '../../support/console/visits.ts';
import type { Scrolled, TimedVisit } from './timed.ts';
import { renderMachine, type Machine } from '../figures/machine.ts';
import { distribution } from '../figures/statistics.ts';
import { hundredths, mebibytes, table, tenths, whole } from '../figures/table.ts';

export interface Memory {
  readonly when: string;
  readonly resident: number;
  readonly peak: number;
}

export interface Results {
  readonly machine: Machine;
  readonly deliveries: number;
  readonly counted: number;
  readonly fillSeconds: number;
  readonly visits: ReadonlyMap<Place, readonly TimedVisit[]>;
  readonly rows: number;
  readonly scrolled: Scrolled;
  readonly scrollFrames: number;
  /** Requests of the list while it was filled. */
  readonly listRequests: readonly AnsweredRequest[];
  readonly memory: readonly Memory[];
}

const isOfApi = ({ path }: AnsweredRequest): boolean => path.startsWith('/v1/');
const longest = (values: readonly number[]): number => Math.max(0, ...values);

export function report(results: Results): Promise<{ readonly sound: boolean }> {
  const { machine, deliveries, counted, fillSeconds, visits, rows, memory } = results;
  const { scrolled, scrollFrames, listRequests } = results;
  const lines = Array.from(visits, ([{ name }, all]) => {
    const server = distribution(all.flatMap(({ requests }) => requests.filter(isOfApi).map(serverMs)));
    return [
      name,
      whole(requestsOf(all)),
      whole(bytesOf(all)),
      tenths(server.p50),
      tenths(server.max),
      whole(distribution(all.map(({ settledMs }) => settledMs)).p50),
      whole(longest(all.map(({ longestTaskMs }) => longestTaskMs))),
      hundredths(longest(all.map(({ shift }) => shift))),
    ];
  });
  const requests = [...visits.values()].flat().flatMap((visit) => visit.requests.filter(isOfApi));
  const ofList = distribution(listRequests.filter(isOfApi).map(serverMs));
  const all = distribution(requests.map(serverMs));
  const slowest = requests.toSorted((a, b) => b.serverMs - a.serverMs).slice(0, 5);
  const header = [
    'page',
    'requests',
    'bytes',
    'server p50 ms',
    'max ms',
    'settled p50 ms',
    'longest task ms',
    'shift',
  ];
  const output = [
    renderMachine(machine),
    '',
    `${whole(counted)} of ${whole(deliveries)} deliveries in the history after ${whole(fillSeconds)} s.`,
    '',
    table(header, lines),
    '',
    `All ${whole(requests.length)} requests: p50 ${tenths(all.p50)}, p99 ${tenths(all.p99)}, max ${tenths(all.max)} ms. The slowest:`,
    ...slowest.map(({ path, serverMs }) => `  ${tenths(serverMs)} ms  ${path.slice(0, 120)}`),
    '',
    `List of ${whole(rows)}: ${whole(listRequests.length)} requests, p99 ${tenths(ofList.p99)}, max ${tenths(ofList.max)} ms. ` +
      `Scrolled in ${scrollFrames} frames: longest frame ${whole(scrolled.longestFrameMs)} ms, ` +
      `longest task ${whole(scrolled.longestTaskMs)} ms.`,
    '',
    table(
      ['memory of control', 'resident MiB', 'peak MiB'],
      memory.map(({ when, resident, peak }) => [when, mebibytes(resident), mebibytes(peak)]),
    ),
  ];
  process.stdout.write(`${output.join('\n')}\n`);
  return Promise.resolve({ sound: counted === deliveries });
}

const serverMs = (request: AnsweredRequest): number => request.serverMs;
/** Of the first visit, when nothing is in the cache of the browser but what the pages before have loaded. */
const requestsOf = ([first]: readonly TimedVisit[]): number => first?.requests.length ?? 0;
const bytesOf = ([first]: readonly TimedVisit[]): number =>
  (first?.requests ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
