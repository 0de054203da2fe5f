/**
 * `npm start`: runs all of Tailrace on one machine, in the foreground. It starts the broker, creates the topics,
 * applies the configuration and starts the services, in this order. It keeps them running, and stops them in the
 * order of the data flow, so that no event is accepted that would wait for the next start.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TailraceError, isTailraceError } from '@tailrace/errors';
import type { TopicReport } from '@tailrace/kafka';
import { abortable } from './abortable.ts';
import { startBroker, type Broker, type OwnBroker } from './broker/broker.ts';
import { tailrace } from './command.ts';
import { demoConfig, demoWriteKey } from './demo.ts';
import { acquireLock } from './broker/lock.ts';
import { openLogFile } from './log-file.ts';
import { brokerEnvironment, checkPorts, makePlan, serviceEnvironment, type Plan } from './plan.ts';
import { withThisNode } from './start-script.ts';
import { supervise, type Supervised } from './supervise.ts';
import { startRegistry, type LocalRegistry } from './registry/registry.ts';
import { createTerminal } from './terminal.ts';

/** npm forwards the signal of the terminal to this process, which also gets it directly. Both count as one. */
const sameRequestMs = 500;

const terminal = createTerminal(process.stdout);
const stopping = new AbortController();
const services: Supervised[] = [];
let broker: Broker | OwnBroker | undefined;
let registry: LocalRegistry | undefined;
let releaseLock: (() => Promise<void>) | undefined;
let brokerRestarts = Promise.resolve();
let stopRequestedAt = 0;

const reasons = { SIGINT: 'Ctrl-C', SIGTERM: 'SIGTERM', SIGHUP: 'the terminal closed' };
for (const [signal, reason] of Object.entries(reasons)) {
  process.on(signal, () => requestStop(reason));
}

try {
  await bringUp();
  if (!isStopping()) await once(stopping.signal, 'abort');
} catch (error) {
  if (!stopping.signal.aborted) {
    process.exitCode = 1;
    terminal.say('tailrace', isTailraceError(error) ? error.message : String((error as Error).stack), 'bad');
  }
}
await takeDown();
// Open handles, such as a connection to a Docker engine, must not delay the exit.
process.exit();

async function bringUp(): Promise<void> {
  const plan = makePlan(process.env, {
    colours: process.stdout.isTTY && process.env['NO_COLOR'] === undefined,
  });
  for (const warning of plan.warnings) terminal.say('tailrace', warning, 'bad');
  await mkdir(plan.dataDir, { recursive: true });
  const tookOver = await takeCheckout(plan);
  await untilPortsAreFree(plan, tookOver);

  broker = await startBroker({
    env: brokerEnvironment(process.env),
    dataDir: join(plan.dataDir, 'kafka'),
    port: plan.kafkaPort,
    signal: stopping.signal,
    onProgress: (phrase, count) => {
      const steps = count === undefined ? '' : ` ${count.done} of ${count.total}`;
      terminal.progress('kafka', `${phrase}${steps}`, {
        milestone: count === undefined || count.done % 10 === 0,
      });
    },
    onDeath: reviveBroker,
  });
  const origin = { given: 'from KAFKA_BROKERS', container: 'in a container', jvm: 'on the local JVM' }[
    broker.kind
  ];
  terminal.say('kafka', `ready at ${broker.brokers.join(',')}, ${origin}`, 'good');

  if (plan.registryPort !== undefined) {
    registry = await startRegistry({
      env: brokerEnvironment(process.env),
      brokers: broker.brokers,
      topicPrefix: plan.topicPrefix,
      port: plan.registryPort,
      signal: stopping.signal,
      onProgress: (phrase) => terminal.progress('registry', phrase),
    });
    terminal.say('registry', `ready at ${registry.url}`, 'good');
  }

  const tokenFile = join(plan.dataDir, 'api-token');
  const apiToken = isGiven('TAILRACE_API_TOKEN') ? undefined : await keptSecret(tokenFile, 24);
  const env = {
    ...process.env,
    KAFKA_BROKERS: broker.brokers.join(','),
    SCHEMA_REGISTRY_URL: registry?.url ?? process.env['SCHEMA_REGISTRY_URL'],
    ...(!isGiven('TAILRACE_SECRET_KEY') && {
      TAILRACE_SECRET_KEY: await keptSecret(join(plan.dataDir, 'secret-key'), 32),
    }),
    ...(apiToken !== undefined && { TAILRACE_API_TOKEN: apiToken }),
    ...(plan.configFile === undefined && {
      TAILRACE_ALLOW_PRIVATE_NETWORKS: process.env['TAILRACE_ALLOW_PRIVATE_NETWORKS'] ?? '127.0.0.0/8',
    }),
  };
  const { signal } = stopping;
  const showingAs = (name: string) => ({
    env,
    signal,
    onMessage: (line: string) => terminal.progress(name, line),
  });
  terminal.progress('topics', 'applying');
  sayTopics(await tailrace(['topics', 'apply', '--output', 'json'], showingAs('topics')));
  const configFile = plan.configFile ?? (await writeDemoConfig(plan));
  terminal.progress('config', `applying ${configFile}`, { milestone: false });
  const changes = await tailrace(['apply', '-f', configFile], showingAs('config'));
  terminal.say('config', `ready, from ${configFile}: ${changes.trimEnd().split('\n').at(-1) ?? ''}`, 'good');

  for (const service of plan.services) {
    const { name, command } = service;
    const logFile = openLogFile(join(plan.dataDir, 'logs', `${name}.log`));
    services.push(
      supervise(
        { name, command, env: withThisNode(serviceEnvironment(service, env)) },
        { terminal, logFile },
      ),
    );
  }
  await Promise.all(
    services.map(async (service, index) => {
      await abortable(service.ready, signal);
      const ports = plan.services[index]?.ports.map(({ port }) => port).join(' and ') ?? '';
      terminal.say(service.name, `ready on port ${ports}, as process ${service.pid ?? 0}`, 'good');
    }),
  );
  if (apiToken !== undefined) {
    terminal.say('control', `API token (in ${tokenFile}): ${apiToken}`);
  }
  terminal.print(readyLine(plan));
}

/** A topic with different settings may be intended. It is reported and does not prevent the start. */
function sayTopics(json: string): void {
  const { topics } = JSON.parse(json) as { topics: TopicReport[] };
  const created = topics.filter(({ outcome }) => outcome === 'created').length;
  for (const { differences } of topics)
    for (const difference of differences) terminal.say('topics', difference);
  terminal.say('topics', `ready, ${topics.length} of them, ${created} created`, 'good');
}

function readyLine({ ingestPort, controlPort, metricsPort, configFile, services }: Plan): string {
  const writeKey = configFile === undefined ? ` (write key ${demoWriteKey})` : '';
  const metrics = services
    .filter(({ name }) => name !== 'demo')
    .map(({ name }, index) => `${name} http://localhost:${metricsPort + index}/metrics`);
  return (
    `Tailrace is ready: send events to http://localhost:${ingestPort}${writeKey}; ` +
    `console: http://localhost:${controlPort}/; API: http://localhost:${controlPort}/docs; ` +
    `metrics: ${metrics.join(', ')}. Ctrl-C stops it.`
  );
}

/** Locks the data directory for this run. Returns whether the previous run ended without cleaning up. */
async function takeCheckout({ dataDir }: Plan): Promise<boolean> {
  const lock = await acquireLock(join(dataDir, 'lock'));
  if ('heldBy' in lock) {
    throw new TailraceError(
      'local-start-failed',
      `Tailrace is already running on ${dataDir}, as process ${lock.heldBy}. Stop it first, or set TAILRACE_DATA_DIR to another directory.`,
    );
  }
  releaseLock = lock.release;
  return lock.wasStale;
}

/** The services of a killed run take a moment to end and to release their ports. */
async function untilPortsAreFree(plan: Plan, tookOver: boolean): Promise<void> {
  const deadline = Date.now() + (tookOver ? 30_000 : 0);
  for (;;) {
    try {
      await checkPorts(plan);
      return;
    } catch (error) {
      if (Date.now() >= deadline) throw error;
    }
    terminal.progress('tailrace', 'waiting for the previous run to end', { milestone: false });
    await sleep(250, undefined, { signal: stopping.signal });
  }
}

/** Whether the secret is in the environment, or in a file that the environment names. */
function isGiven(secret: string): boolean {
  return [secret, `${secret}_FILE`].some((name) => (process.env[name] ?? '').trim() !== '');
}

/**
 * Random bytes in hex, the same at every start, because stored secrets depend on the key, and users save the token.
 */
async function keptSecret(path: string, bytes: number): Promise<string> {
  const made = randomBytes(bytes).toString('hex');
  await writeFile(path, made, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
  return readFile(path, 'utf8');
}

async function writeDemoConfig({ dataDir, demoPort }: Plan): Promise<string> {
  const path = join(dataDir, 'demo.yaml');
  await writeFile(path, await demoConfig(demoPort));
  return path;
}

function reviveBroker(how: string): void {
  terminal.say('kafka', `ended with ${how}, restarting`, 'bad');
  const revive = async (): Promise<void> => {
    for (let pauseMs = 500; ; pauseMs = Math.min(pauseMs * 2, 30_000)) {
      await sleep(pauseMs);
      if (isStopping() || broker === undefined || !('restart' in broker)) return;
      try {
        await broker.restart();
        terminal.say('kafka', 'is ready again', 'good');
        return;
      } catch (error) {
        if (!isStopping()) terminal.say('kafka', (error as Error).message, 'bad');
      }
    }
  };
  brokerRestarts = brokerRestarts.then(revive);
}

function requestStop(reason: string): void {
  if (isStopping()) {
    if (Date.now() - stopRequestedAt < sameRequestMs) return;
    terminal.say('tailrace', 'killed after the second signal');
    for (const service of services) service.kill();
    void (broker !== undefined && 'kill' in broker ? broker.kill('SIGKILL') : Promise.resolve()).finally(() =>
      process.exit(130),
    );
    return;
  }
  terminal.say('tailrace', `stopping (${reason}); press Ctrl-C again to kill immediately`);
  stopRequestedAt = Date.now();
  stopping.abort(new Error(reason));
}

function isStopping(): boolean {
  return stopping.signal.aborted;
}

async function takeDown(): Promise<void> {
  for (const service of services) {
    await service.stop();
    terminal.say(service.name, 'stopped');
  }
  await registry?.stop();
  await brokerRestarts;
  if (broker !== undefined) {
    await broker.stop();
    if (broker.kind !== 'given') terminal.say('kafka', 'stopped');
  }
  await releaseLock?.();
}
