/**
 * `npm run bench`: the pipeline end to end, with real processes and its own broker, and the bare parts. The exit
 * code is 1 if a call was lost, altered or wrongly signed. It never fails for being slow.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { calibrate } from './figures/calibration.ts';
import { measureChain } from './pipeline/bare-chain.ts';
import { startForwarder } from './pipeline/bare-forwarder.ts';
import { measureParts, partTitles, type PartCosts } from './pipeline/bare-parts.ts';
import { obey, runBench, say, type Bench } from './processes/bench.ts';
import { renderHotSpots } from './figures/hot-spots.ts';
import { createLoad } from './load/load.ts';
import { mapValues, sampleMemory, type ByProcess } from './figures/measure.ts';
import { readCommandLine, type Options } from './pipeline/options.ts';
import { startReceiver } from './receivers/receiver.ts';
import { renderComparison, replaceLastRun } from './pipeline/last-run.ts';
import { accountOf, figuresOf, isSound, renderReport, type Results, type Soak } from './pipeline/report.ts';
import { measureRun, type RunDependencies, type RunResult } from './pipeline/run.ts';
import { connected, headersOf, profileOf, serviceNames, startSystem } from './pipeline/services.ts';
import { trend } from './figures/statistics.ts';

const sharedSecret = randomBytes(16).toString('hex');

await obey(readCommandLine(process.argv.slice(2)), (options) =>
  runBench((bench) => measure(bench, options), report),
);

async function report(results: Results): Promise<{ readonly sound: boolean }> {
  const { jsonFile, profileFolder } = results.options;
  process.stdout.write(`${renderReport(results)}\n`);
  const { machine, calibrationMs } = results;
  const run = { machine, calibrationMs, figures: figuresOf(results) };
  const last = await replaceLastRun(run);
  if (last) process.stdout.write(`\n${renderComparison(run, last)}\n`);
  if (jsonFile !== undefined) await writeFile(jsonFile, `${JSON.stringify(results, null, 2)}\n`);
  if (profileFolder !== undefined) {
    for (const name of serviceNames) {
      process.stdout.write(`\n${name}: ${await renderHotSpots(profileOf(profileFolder, name))}`);
    }
  }
  return { sound: isSound(accountOf(results)) };
}

async function measure(bench: Bench, options: Options): Promise<Results> {
  const { machine, brokers, brokerPid, folder, resources, brokerDied } = bench;
  const { sections, inFlight, partitions, spacing } = options;
  const rate = { count: options.rate * options.rateSeconds, ratePerSecond: options.rate, spacing };
  const calibrationMs = calibrate();
  const receiver = resources.use(startReceiver());
  const [url] = await receiver.listen([{ kind: 'answers' }]);

  say('starting the services');
  if (options.profileFolder !== undefined) await mkdir(options.profileFolder, { recursive: true });
  const system = resources.use(
    await startSystem({
      brokers,
      partitions,
      configuration: connected('bench', url, sharedSecret, { rateLimitBytes: 1_000_000_000 }),
      folder,
      profileFolder: options.profileFolder && path.resolve(options.profileFolder),
    }),
  );
  const dependencies: RunDependencies = {
    load: createLoad({
      port: system.ingestPort,
      path: '/v1/track',
      headers: headersOf('bench'),
    }),
    receiver,
    sharedSecret,
    pids: {
      ...system.pids,
      ...(brokerPid !== undefined && { broker: brokerPid }),
      'load generator': process.pid,
      receiver: receiver.pid,
    },
  };
  const unlessDead = <T>(work: Promise<T>): Promise<T> => Promise.race([work, system.died, brokerDied]);
  const closedLoop = (count: number, on = dependencies): Promise<RunResult> =>
    unlessDead(measureRun(on, count, (load) => load.closedLoop({ count, inFlight })));
  const openLoop = (on = dependencies): Promise<RunResult> =>
    unlessDead(measureRun(on, rate.count, (load) => load.openLoop(rate)));

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
    say(`steady: ${options.rate} calls a second for ${options.rateSeconds} s`);
    steady = await openLoop();
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

  // Profiles are written when services stop; the bare parts then have the machine to themselves.
  say('stopping the services');
  await system[Symbol.asyncDispose]();

  let parts: PartCosts | undefined;
  if (sections.includes('parts')) {
    parts = await measureParts(
      {
        brokers,
        topic: 'bare-parts',
        partitions,
        url,
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

  let chain: ByProcess | undefined;
  if (sections.includes('chain')) {
    say(`bare chain: ${options.rate} records a second for ${options.rateSeconds} s`);
    chain = await measureChain(brokers, partitions, brokerPid, rate);
  }

  let limit: Results['limit'];
  if (sections.includes('limit')) {
    say('the limit of the load generator and the receiver: a bare forwarder');
    const forwarder = resources.use(await startForwarder({ url, sharedSecret, inFlight }));
    const load = createLoad({ port: forwarder.port, path: '/v1/track', headers: headersOf('bench') });
    const on: RunDependencies = { load, receiver, sharedSecret, pids: { forwarder: forwarder.pid } };
    await closedLoop(options.warmUp, on);
    limit = { burst: await closedLoop(options.events, on), steady: await openLoop(on) };
  }
  return { machine, calibrationMs, options, warmUp, burst, steady, soak, parts, chain, limit };
}
