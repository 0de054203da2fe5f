/**
 * `npm run bench`: the pipeline end to end, through real processes on a broker of the bench's own, and the bare
 * parts it is made of. The report goes to standard output, progress to standard error. It exits with 1 where a
 * call was lost, altered or wrongly signed, and never for being slow: figures are for people to compare.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import { startOwnBroker } from '@tailrace/local';
import { measureParts, partTitles, type PartCosts } from './bare-parts.ts';
import { hotSpots, type CpuProfile } from './hot-spots.ts';
import { createLoad } from './load.ts';
import { describeKafka, describeMachine } from './machine.ts';
import { findBroker, mapValues, sampleMemory } from './measure.ts';
import { readCommandLine, type Options } from './options.ts';
import { startReceiver } from './receiver.ts';
import { accountOf, isSound, renderReport, type Results, type Soak } from './report.ts';
import { measureRun, type RunDependencies, type RunResult } from './run.ts';
import { serviceNames, startSystem } from './services.ts';
import { trend } from './statistics.ts';

const sharedSecret = randomBytes(16).toString('hex');
const resources = new AsyncDisposableStack();
const interrupted = new AbortController();
let running: Promise<void> | undefined;
let ended: Promise<void> | undefined;
/** What was being started when the interrupt came cleans up after itself. */
const unwindsWithinMs = 5_000;

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Ends every process that was started, once. */
function endAll(): Promise<void> {
  return (ended ??= resources.disposeAsync());
}

for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  process.on(signal, () => {
    if (interrupted.signal.aborted) return;
    interrupted.abort(new Error(signal));
    say(`${signal}: stopping`);
    void endAll()
      .then(() => Promise.race([running, sleep(unwindsWithinMs)]))
      .finally(() => process.exit(exitCode));
  });
}

const commandLine = readCommandLine(process.argv.slice(2));
switch (commandLine.kind) {
  case 'help':
    process.stdout.write(commandLine.usage);
    break;
  case 'mistake':
    say(commandLine.message);
    process.exitCode = 2;
    break;
  case 'run':
    await (running = runAndReport(commandLine.options));
    break;
}

async function runAndReport(options: Options): Promise<void> {
  try {
    const results = await bench(options);
    await endAll();
    process.stdout.write(`${renderReport(results)}\n`);
    if (options.jsonFile !== undefined) {
      await writeFile(options.jsonFile, `${JSON.stringify(results, null, 2)}\n`);
    }
    if (options.profileFolder !== undefined) await printHotSpots(options.profileFolder);
    if (!isSound(accountOf(results))) process.exitCode = 1;
  } catch (error) {
    // What fails because everything is being ended has nothing to say.
    if (interrupted.signal.aborted) return;
    process.exitCode = 1;
    say(isTailraceError(error) ? error.message : ((error as Error).stack ?? String(error)));
    await endAll();
  }
}

async function bench(options: Options): Promise<Results> {
  const { sections, inFlight, partitions } = options;
  const machine = describeMachine();
  const brokerDied = Promise.withResolvers<never>();
  brokerDied.promise.catch(() => undefined);

  say('starting the broker');
  const broker = resources.use(
    await startOwnBroker({
      env: process.env,
      signal: interrupted.signal,
      onDeath: (how) => {
        brokerDied.reject(new Error(`the broker ended with ${how}`));
      },
    }),
  );
  const receiver = resources.use(await startReceiver());
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-bench-'));
  resources.defer(() => rm(folder, { recursive: true }));

  say('starting the services');
  if (options.profileFolder !== undefined) await mkdir(options.profileFolder, { recursive: true });
  const system = resources.use(
    await startSystem({
      brokers: broker.brokers,
      partitions,
      url: receiver.url,
      sharedSecret,
      folder,
      profileFolder: options.profileFolder && path.resolve(options.profileFolder),
    }),
  );
  const jvm = findBroker();
  const dependencies: RunDependencies = {
    load: createLoad({
      port: system.ingestPort,
      path: '/v1/track',
      headers: {
        authorization: `Basic ${btoa(`${system.writeKey}:`)}`,
        'content-type': 'application/json',
      },
    }),
    receiver,
    sharedSecret,
    pids: {
      ...system.pids,
      ...(jvm !== undefined && { broker: jvm }),
      'load generator': process.pid,
      receiver: receiver.pid,
    },
  };
  const unlessDead = <T>(work: Promise<T>): Promise<T> =>
    Promise.race([work, system.died, brokerDied.promise]);
  const closedLoop = (count: number): Promise<RunResult> =>
    unlessDead(measureRun(dependencies, count, (load) => load.closedLoop({ count, inFlight })));

  say(`warming up: ${options.warmUp} calls`);
  const { account: warmUp } = await closedLoop(options.warmUp);

  let burst: RunResult[] | undefined;
  if (sections.includes('burst')) {
    burst = [];
    for (let run = 1; run <= options.runs; run += 1) {
      say(`burst ${run} of ${options.runs}: ${options.events} calls, ${inFlight} in flight`);
      burst.push(await closedLoop(options.events));
    }
  }

  let steady: RunResult | undefined;
  if (sections.includes('steady')) {
    const { rate: ratePerSecond, rateSeconds } = options;
    const count = ratePerSecond * rateSeconds;
    say(`steady: ${ratePerSecond} calls a second for ${rateSeconds} s`);
    steady = await unlessDead(
      measureRun(dependencies, count, (load) => load.openLoop({ count, ratePerSecond })),
    );
  }

  let soak: Soak | undefined;
  if (sections.includes('soak')) {
    say(`soak: ${options.soakEvents} calls, ${inFlight} in flight`);
    const sampler = sampleMemory(system.pids);
    const run = await closedLoop(options.soakEvents).finally(() => {
      sampler.stop();
    });
    soak = { run, memory: mapValues(sampler.samples, trend) };
  }

  // Their profiles are written when they stop, and the bare parts have the machine to themselves.
  say('stopping the services');
  await system[Symbol.asyncDispose]();

  let parts: PartCosts | undefined;
  if (sections.includes('parts')) {
    parts = await measureParts(
      {
        brokers: broker.brokers,
        topic: 'bare-parts',
        partitions,
        url: receiver.url,
        inFlight,
        warmUp: Math.ceil(options.events / 2),
        count: options.events,
        runs: options.runs,
      },
      (name) => {
        say(`bare part: ${partTitles[name]}`);
      },
    );
  }
  const kafka = describeKafka(broker.kind);
  return { machine: { ...machine, kafka }, options, warmUp, burst, steady, soak, parts };
}

async function printHotSpots(folder: string): Promise<void> {
  const root = path.resolve(import.meta.dirname, '../..');
  for (const name of serviceNames) {
    const file = path.join(folder, `${name}.cpuprofile`);
    const spots = hotSpots(JSON.parse(await readFile(file, 'utf8')) as CpuProfile, root, 20);
    const lines = spots.map(({ where, share }) => `${(share * 100).toFixed(1).padStart(6)} %  ${where}\n`);
    process.stdout.write(`\n${name}, share of its CPU time (${file})\n${lines.join('')}`);
  }
}
