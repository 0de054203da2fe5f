/**
 * Shared by all benches: a broker, a folder for logs, and clean-up. All processes that a bench starts end with it, also when
 * it is interrupted. Figures are written to standard output, progress to standard error.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import { startOwnBroker } from '@tailrace/local';
import type { CommandLine } from '../command-line.ts';
import { describeKafka, describeMachine, type Machine } from '../figures/machine.ts';
import { findBroker } from '../figures/measure.ts';

export interface Bench {
  /** The machine. */
  readonly machine: Machine;
  readonly brokers: readonly string[];
  /** Process id of the broker; undefined if it is not known. */
  readonly brokerPid: number | undefined;
  /** Temporary, where no other was given. */
  readonly folder: string;
  /** Of the broker. */
  readonly dataDir: string;
  /** Disposed of in reverse order when the bench ends. */
  readonly resources: AsyncDisposableStack;
  /** Rejects when the broker ends unexpectedly; never resolves. */
  readonly brokerDied: Promise<never>;
}

export interface BenchOptions {
  /** Is kept, with the data of the broker. */
  readonly folder?: string;
  /** To the broker, which then runs on the JVM. */
  readonly changes?: Required<Parameters<typeof startOwnBroker>[0]>['changes'];
}

/** Processes that are starting at an interrupt clean up themselves. */
const unwindsWithinMs = 5_000;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Runs the bench that the command line selects, or prints the usage; a mistake gives exit code 2. */
export async function obey<Options>(
  commandLine: CommandLine<Options>,
  run: (options: Options) => Promise<void>,
): Promise<void> {
  switch (commandLine.kind) {
    case 'help':
      process.stdout.write(commandLine.usage);
      return;
    case 'mistake':
      say(commandLine.message);
      process.exitCode = 2;
      return;
    case 'run':
      await run(commandLine.options);
  }
}

/**
 * Runs `measure`, ends everything it started, then runs `report`. The exit code is 1 if an event was lost or altered, or on
 * any failure; never for being slow. May be called again when it has resolved.
 */
export async function runBench<Results>(
  measure: (bench: Bench) => Promise<Results>,
  report: (results: Results) => Promise<{ readonly sound: boolean }>,
  options: BenchOptions = {},
): Promise<void> {
  const resources = new AsyncDisposableStack();
  const interrupted = new AbortController();
  let ended: Promise<void> | undefined;
  const endAll = (): Promise<void> => (ended ??= resources.disposeAsync());

  const run = async (): Promise<void> => {
    try {
      const results = await measure(await prepare(resources, interrupted.signal, options));
      await endAll();
      if (!(await report(results)).sound) process.exitCode = 1;
    } catch (error) {
      // Failures that are caused by the shutdown are not reported.
      if (interrupted.signal.aborted) return;
      process.exitCode = 1;
      say(isTailraceError(error) ? error.message : ((error as Error).stack ?? String(error)));
      await endAll();
    }
  };
  const running = Promise.withResolvers<unknown>();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (interrupted.signal.aborted) return;
    interrupted.abort(new Error(signal));
    say(`${signal}: stopping`);
    void endAll()
      .then(() => Promise.race([running.promise, sleep(unwindsWithinMs)]))
      .finally(() => process.exit(128 + constants.signals[signal]));
  };
  for (const signal of signals) process.on(signal, onSignal);
  await run().finally(() => {
    running.resolve(undefined);
  });
  // The handler of the signal ends the process.
  if (interrupted.signal.aborted) await new Promise(() => undefined);
  for (const signal of signals) process.off(signal, onSignal);
}

async function prepare(
  resources: AsyncDisposableStack,
  signal: AbortSignal,
  { folder: kept, changes }: BenchOptions,
): Promise<Bench> {
  const machine = describeMachine();
  const died = Promise.withResolvers<never>();
  died.promise.catch(() => undefined);
  const folder = kept ?? (await mkdtemp(path.join(tmpdir(), 'tailrace-bench-')));
  if (kept === undefined) resources.defer(() => rm(folder, { recursive: true }));
  const dataDir = path.join(folder, 'kafka');
  say('starting the broker');
  const broker = resources.use(
    await startOwnBroker({
      env: process.env,
      dataDir,
      signal,
      ...(changes && { changes }),
      onDeath: (how) => {
        died.reject(new Error(`the broker ended with ${how}`));
      },
    }),
  );
  return {
    machine: { ...machine, kafka: describeKafka(broker.kind) },
    brokers: broker.brokers,
    brokerPid: findBroker(),
    folder,
    dataDir,
    resources,
    brokerDied: died.promise,
  };
}
