import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { TailraceError } from '@tailrace/errors';
import { collect } from '@tailrace/testing';
import Type from 'typebox';
import { createLogTo } from '../log/log.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { Service, type ServiceContext } from './service.ts';
import { readSettings, type Environment } from '../settings/read.ts';
import { serviceSettings } from '../settings/shared.ts';

interface LogLine {
  readonly msg: string;
  readonly level: string;
  readonly [field: string]: unknown;
}

const settings = Type.Object(serviceSettings({ metricsPort: 0 }));
const hourMs = 3_600_000;

/** A service whose parts `open` opens. */
function create(
  open: (
    service: Pick<
      ServiceContext<unknown>,
      'health' | 'log' | 'onClose' | 'whenAvailable' | 'leaving' | 'signal'
    >,
  ) => Promise<object | undefined>,
  env: Environment = {},
) {
  const log = collect<LogLine>('the log', (line) => JSON.stringify(line));
  const write = (text: string): void => {
    log.add(JSON.parse(text) as LogLine);
  };
  const definition = {
    name: 'trial',
    settings,
    open: (service: ServiceContext<unknown>) =>
      open(service) as Promise<Readonly<Record<string, unknown>> | undefined>,
  };
  const service = new Service(definition, readSettings(env, settings), {
    log: createLogTo({ write }, 'trial', 'info'),
    metrics: createMetrics({ processMetrics: false }),
  });
  return {
    log,
    start: () => service.start(),
    stop: (reason = 'the test', delayMs?: number) => service.stop(reason, delayMs),
    async probe(path: string): Promise<{ status: number; body: string }> {
      const { metricsPort } = await log.find(({ msg }) => msg === 'starting');
      // Not fetch, which waits for timers that a test mocks.
      const request = get({ host: '127.0.0.1', port: metricsPort as number, path, agent: false });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return { status: response.statusCode ?? 0, body: await text(response) };
    },
    async [Symbol.asyncDispose]() {
      await service.stop('the test is over');
    },
  };
}

const messages = (lines: readonly LogLine[]): string[] => lines.map(({ msg }) => msg);

test('at its stop a ready service is unready and serves for the delay, and closes then', async () => {
  const state: { leaving?: AbortSignal; signal?: AbortSignal } = {};
  const whileClosing = Promise.withResolvers<readonly string[]>();
  await using service = create((context) => {
    Object.assign(state, { leaving: context.leaving, signal: context.signal });
    // The probe server closes last.
    context.onClose('HTTP server', async () => {
      const pages = await Promise.all(['/readyz', '/metrics'].map((page) => service.probe(page)));
      whileClosing.resolve(pages.map(({ status, body }) => `${status} ${body}`));
    });
    return Promise.resolve(undefined);
  });
  await service.start();
  assert.match((await service.probe('/metrics')).body, /^tailrace_ready 1$/m);
  const stopped = service.stop('SIGTERM', 50);
  assert.deepEqual([state.leaving?.aborted, state.signal?.aborted], [true, false]);
  const [readyz = '', metrics = ''] = await whileClosing.promise;
  assert.equal(state.signal?.aborted, true);
  assert.match(readyz, /^503 .*it is stopping: SIGTERM/);
  assert.match(metrics, /^tailrace_ready 0$/m);
  assert.equal(await stopped, true);
  assert.deepEqual(messages(service.log.items), [
    'starting',
    'ready',
    'stopping',
    'serving until load balancers have noticed',
    'stopped',
  ]);
});

test('a stop before it is ready does not wait for the delay', async () => {
  await using service = create(() => new Promise(() => undefined));
  void service.start();
  await service.log.find(({ msg }) => msg === 'starting');
  assert.equal(await service.stop('SIGTERM', hourMs), true);
});

test('a second stop changes nothing', async () => {
  await using service = create(() => Promise.resolve(undefined));
  await service.start();
  const first = service.stop();
  assert.equal(await service.stop(), undefined);
  assert.equal(await first, true);
});

test('a check that fails later is a metric and on /readyz, and the service stays ready', async () => {
  await using service = create(({ health }) => {
    health.add('kafka', () => Promise.reject(new Error('no broker answers')));
    health.add('consumer-group', () => Promise.resolve());
    return Promise.resolve(undefined);
  });
  await service.start();
  const { status, body } = await service.probe('/readyz');
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(body), {
    ready: true,
    checks: [
      { name: 'kafka', ok: false, reason: 'no broker answers' },
      { name: 'consumer-group', ok: true },
    ],
  });
  const metrics = (await service.probe('/metrics')).body;
  assert.match(metrics, /^tailrace_check_ok\{check="kafka"\} 0$/m);
  assert.match(metrics, /^tailrace_check_ok\{check="consumer-group"\} 1$/m);
});

test('a reason to wait is logged once, and each further reason too', async () => {
  await using service = create(async (context) => {
    const problems = ['no topic', 'no topic', 'no broker'];
    await context.whenAvailable('its topics', () => {
      const problem = problems.shift();
      if (problem) return Promise.reject(new TailraceError('topic-missing', problem));
      return Promise.resolve();
    });
    return undefined;
  });
  await service.start();
  const warnings = service.log.items.filter(({ level }) => level === 'warn');
  assert.deepEqual(messages(warnings), ['no topic', 'no broker']);
});

test('a service waits for an unavailable dependency, live and not ready with the reason, and then continues', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let isThere = false;
  await using service = create(async (context) => {
    const kafka = await context.whenAvailable('Kafka', () =>
      isThere
        ? Promise.resolve('connected')
        : Promise.reject(new TailraceError('kafka-unavailable', 'no broker answers at a:9092')),
    );
    return { kafka };
  });
  const started = service.start();
  const waiting = await service.log.find(({ msg }) => msg === 'no broker answers at a:9092');
  assert.equal(waiting.level, 'warn');
  assert.equal(waiting['waitingFor'], 'Kafka');
  assert.equal((await service.probe('/livez')).status, 200);
  const notReady = await service.probe('/readyz');
  assert.equal(notReady.status, 503);
  assert.match(notReady.body, /it is waiting for Kafka: no broker answers at a:9092/);
  isThere = true;
  t.mock.timers.tick(5_000);
  await started;
  assert.equal((await service.log.find(({ msg }) => msg === 'ready'))['kafka'], 'connected');
  assert.equal((await service.probe('/readyz')).status, 200);
});

test('a waiting service stops immediately', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await using service = create(async (context) => {
    await context.whenAvailable('Kafka', () =>
      Promise.reject(new TailraceError('kafka-unavailable', 'no broker answers')),
    );
    return undefined;
  });
  const started = service.start();
  await service.log.find(({ msg }) => msg === 'no broker answers');
  assert.equal(await service.stop(), true);
  await started;
});

test('an error while closing is logged, the rest is closed, and the stop is not clean', async () => {
  await using service = create((context) => {
    context.onClose('kafka', () => {
      context.log.info('closed kafka');
    });
    context.onClose('http server', () => {
      throw new Error('cannot');
    });
    return Promise.resolve(undefined);
  });
  await service.start();
  assert.equal(await service.stop(), false);
  const failed = await service.log.find(({ msg }) => msg === 'close failed');
  assert.equal(failed['closing'], 'http server');
  assert.ok(messages(service.log.items).includes('closed kafka'));
});
