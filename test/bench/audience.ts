/**
 * `npm run bench:audience`: uploads a large audience through the API of control, and again with some changes. Counts
 * the committed records of `events`. The exit code is 1 unless each change was sent once.
 */
import { request } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyConfiguration } from '@tailrace/config';
import { freePort } from '@tailrace/local';
import { topicNames, topicSpecs } from '@tailrace/topology';
import { obey, runBench, say, type Bench } from './processes/bench.ts';
import { count, readOptions, type CommandLine } from './command-line.ts';
import { openKafka, untilTaken } from './processes/kafka.ts';
import { renderMachine, type Machine } from './figures/machine.ts';
import { cpuSeconds, peakBytes } from './figures/measure.ts';
import { spawnService } from './processes/service-process.ts';
import { mebibytes, table, tenths, whole } from './figures/table.ts';

interface Options {
  readonly members: number;
  readonly changes: number;
  readonly rate: number;
  readonly partitions: number;
}

const usage = `Usage: npm run bench:audience -- [options]

Syncs an audience through control, and syncs it again with changes, on a broker of its own.

  --members N     users in the first upload              (1000000)
  --changes N     of the second; half leave, half join   (1000)
  --rate N        identify calls a second at most        (1000000, which is as fast as it goes)
  --partitions N  of every topic                         (6)
  --help          this text
`;

function readCommandLine(args: readonly string[]): CommandLine<Options> {
  return readOptions(args, { usage, texts: ['members', 'changes', 'rate', 'partitions'] }, (values) => ({
    members: count('members', values.members, 1_000_000),
    changes: count('changes', values.changes, 1_000),
    rate: count('rate', values.rate, 1_000_000),
    partitions: count('partitions', values.partitions, 6),
  }));
}

interface Run {
  readonly what: string;
  readonly members: number;
  /** Until the answer, when the upload is validated; and from there to the end of the sync. */
  readonly uploadSeconds: number;
  readonly syncSeconds: number;
  readonly cpuSeconds: number;
  /** Peak resident memory of the run. */
  readonly peakBytes: number;
  readonly expected: number;
  /** Identify calls in `events`, and those with a repeated messageId. */
  readonly found: number;
  readonly repeated: number;
}

interface Results {
  readonly machine: Machine;
  readonly idleBytes: number;
  readonly runs: readonly Run[];
}

const token = 'bench-audience-token';
const authorization = `Bearer ${token}`;
const audiencePath = '/v1/sources/web/audiences/Bench';
const folderName = 'audience';

await obey(readCommandLine(process.argv.slice(2)), (options) =>
  runBench((bench) => measure(bench, options), report),
);

async function measure(bench: Bench, { members, changes, rate, partitions }: Options): Promise<Results> {
  const { machine, brokers, folder, resources } = bench;
  const kafka = openKafka(brokers);
  resources.defer(() => kafka.close());
  const names = topicNames('tailrace.');
  await kafka.ensureTopics(topicSpecs(names, { partitions, retryScheduleMs: [10_000] }));
  const source = { id: 'web', writeKeys: ['wk_bench'], enabled: true };
  await untilTaken(() => applyConfiguration(kafka, names.config, { sources: [source], destinations: [] }));
  const port = await freePort();
  const control = resources.use(
    await spawnService({
      name: 'control',
      logFile: path.join(folder, 'control.log'),
      env: {
        KAFKA_BROKERS: brokers.join(','),
        TAILRACE_CONTROL_PORT: String(port),
        TAILRACE_METRICS_PORT: String(await freePort()),
        TAILRACE_API_TOKEN: token,
        TAILRACE_DATA_DIR: path.join(folder, folderName),
        TAILRACE_AUDIENCE_RATE: String(rate),
      },
    }),
  );
  await Promise.race([control.ready, control.died]);
  const idleBytes = peakBytes(control.pid);

  const ids = new Set<string>();
  const counted = { starts: new Map<number, number>() };
  const countNew = async (): Promise<{ found: number; repeated: number }> => {
    let found = 0;
    let repeated = 0;
    for await (const records of await kafka.scan({
      topic: names.events,
      starts: startsOf(counted, partitions),
    })) {
      for (const { partition, offset, value } of records) {
        counted.starts.set(partition, offset + 1);
        const { messageId } = JSON.parse(value?.toString() ?? '') as { messageId: string };
        // The last part identifies the user; the sync before it is the same for the whole run.
        const id = messageId.slice('audience/'.length);
        found += 1;
        if (ids.has(id)) repeated += 1;
        ids.add(id);
      }
    }
    return { found, repeated };
  };
  const run = async (what: string, from: number, to: number, expected: number): Promise<Run> => {
    say(`${what}: ${to - from} users`);
    const cpuBefore = cpuSeconds(control.pid);
    const beganAt = performance.now();
    await upload(port, from, to);
    const uploadedAt = performance.now();
    await Promise.race([untilDone(port), control.died, bench.brokerDied]);
    const endedAt = performance.now();
    ids.clear();
    return {
      what,
      members: to - from,
      uploadSeconds: (uploadedAt - beganAt) / 1_000,
      syncSeconds: (endedAt - uploadedAt) / 1_000,
      cpuSeconds: cpuSeconds(control.pid) - cpuBefore,
      peakBytes: peakBytes(control.pid),
      expected,
      ...(await countNew()),
    };
  };
  const half = Math.ceil(changes / 2);
  const runs = [
    await run('all join', 0, members, members),
    await run(`${2 * half} changes`, half, members + half, 2 * half),
    await run('no change', half, members + half, 0),
  ];
  return { machine, idleBytes, runs };
}

function startsOf({ starts }: { readonly starts: ReadonlyMap<number, number> }, partitions: number) {
  return new Map(
    Array.from({ length: partitions }, (_, partition) => [partition, starts.get(partition) ?? 0]),
  );
}

/** Ids in an order unrelated to their bytes, as in an exported file. */
function* linesOf(from: number, to: number): Generator<string> {
  const linesPerChunk = 500;
  let lines = '';
  for (let nth = from; nth < to; nth += 1) {
    lines += `{"userId":"${((nth * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0')}-${nth}"}\n`;
    if ((nth + 1) % linesPerChunk !== 0) continue;
    yield lines;
    lines = '';
  }
  yield lines;
}

async function upload(port: number, from: number, to: number): Promise<void> {
  const headers = { authorization, 'content-type': 'application/x-ndjson' };
  const sending = request({ host: '127.0.0.1', port, path: audiencePath, method: 'PUT', headers });
  const answered = new Promise<number>((resolve, reject) => {
    sending.once('error', reject);
    sending.once('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
  });
  await pipeline(Readable.from(linesOf(from, to)), sending);
  const status = await answered;
  if (status !== 202) throw new Error(`the upload was answered with ${status}`);
}

async function untilDone(port: number): Promise<void> {
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}${audiencePath}`, { headers: { authorization } });
    const { sync } = (await response.json()) as { sync?: { state: string; sent: number; total?: number } };
    if (sync?.state === 'done') return;
    if (sync?.state !== 'running') throw new Error(`the sync is ${sync?.state ?? 'unknown'}`);
    await sleep(250);
  }
}

function report({ machine, idleBytes, runs }: Results): Promise<{ readonly sound: boolean }> {
  const rows = runs.map((run) => [
    run.what,
    whole(run.members),
    tenths(run.uploadSeconds),
    tenths(run.syncSeconds),
    run.expected === 0 ? '-' : whole(run.expected / run.syncSeconds),
    tenths(run.cpuSeconds),
    mebibytes(run.peakBytes),
    whole(run.found),
    whole(run.repeated),
  ]);
  const header = [
    'upload',
    'users',
    'read, s',
    'sync, s',
    'calls/s',
    'CPU, s',
    'peak MiB',
    'in events',
    'repeated',
  ];
  process.stdout.write(`${renderMachine(machine)}\n\n${table(header, rows)}\n`);
  process.stdout.write(`Resident before the first upload: ${mebibytes(idleBytes)} MiB.\n`);
  const sound = runs.every(({ expected, found, repeated }) => found === expected && repeated === 0);
  if (!sound) say('not every change was sent exactly once');
  return Promise.resolve({ sound });
}
