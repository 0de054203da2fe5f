import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { limitMs } from '@tailrace/testing';
import { lookAtAll, requestPatiently } from './look.ts';

async function serve(listener: RequestListener, port = 0) {
  const server = createServer(listener).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const metrics = [
  '# HELP tailrace_build_info Version.',
  '# TYPE tailrace_build_info gauge',
  'tailrace_build_info{version="1.2.0",revision="abc"} 1',
  'tailrace_check_ok{check="kafka"} 0',
  'tailrace_check_ok{check="config"} 1',
  'tailrace_config_age_seconds 12.5',
  'tailrace_consumer_lag_seconds{topic="tailrace.events"} 3.25',
  'tailrace_consumer_lag_seconds{topic="tailrace.deliveries"} NaN',
  'tailrace_consumer_lag_records{topic="tailrace.deliveries"} 7',
  'other{a="}\\"",b="2"} 1',
].join('\n');

const healthy: RequestListener = ({ url }, response) => {
  if (url === '/readyz') response.end('{"ready":true,"checks":[]}');
  else response.end(metrics);
};

test('a replica reports its readiness, version, checks, lag and configuration age', async () => {
  await using server = await serve(healthy);
  const [report] = await lookAtAll([{ service: 'router', url: server.url }]);
  assert.equal(report?.state, 'ready');
  assert.deepEqual(report.metrics, {
    version: '1.2.0',
    revision: 'abc',
    failingChecks: ['kafka'],
    configAgeSeconds: 12.5,
    clockSeconds: undefined,
    lagSeconds: { 'tailrace.events': 3.25 },
    topics: ['tailrace.events', 'tailrace.deliveries'],
  });
});

test('a replica reports how far its clock is ahead, to the millisecond where its release has the metric', async () => {
  const aheadMs = 600_000;
  const dated: RequestListener = (_request, response) => {
    response.setHeader('date', new Date(Date.now() - aheadMs).toUTCString()).end('');
  };
  const timed: RequestListener = (request, response) => {
    if (request.url === '/metrics') response.end(`tailrace_clock_seconds ${(Date.now() + aheadMs) / 1_000}`);
    else dated(request, response);
  };
  await using servers = new AsyncDisposableStack();
  const replicas = [servers.use(await serve(timed)), servers.use(await serve(dated))];
  const reports = await lookAtAll(replicas.map(({ url }) => ({ service: 'control', url })));
  const minutes = reports.map((report) => Math.round((report.aheadMs ?? NaN) / 60_000));
  assert.deepEqual(minutes, [10, -10]);
});

test('a replica that is not ready says why, and a release without metrics of the build is accepted', async () => {
  const answer = {
    ready: false,
    reason: 'it is waiting for its topics: the topic tailrace.events is missing',
    checks: [
      { name: 'kafka', ok: false, reason: 'no broker answers' },
      { name: 'registry', ok: true },
    ],
  };
  await using server = await serve(({ url }, response) => {
    if (url === '/readyz') response.writeHead(503).end(JSON.stringify(answer));
    else response.end('');
  });
  const [report] = await lookAtAll([{ service: 'router', url: server.url }]);
  assert.equal(report?.state, 'not-ready');
  assert.equal(report.reason, `${answer.reason}; kafka: no broker answers`);
  assert.equal(report.metrics?.version, undefined);
});

test('100 replicas are asked many at a time', async () => {
  const enough = Promise.withResolvers<undefined>();
  let waiting = 0;
  await using server = await serve((request, response) => {
    waiting += 1;
    if (waiting === 8) enough.resolve(undefined);
    void enough.promise.then(() => {
      healthy(request, response);
    });
  });
  const replicas = Array.from({ length: 100 }, () => ({ service: 'router', url: server.url }));
  const reports = await lookAtAll(replicas, limitMs);
  assert.deepEqual(new Set(reports.map(({ state }) => state)), new Set(['ready']));
});

test('replicas that hang, send without end or are gone are silent, and hold up no report', async () => {
  await using servers = new AsyncDisposableStack();
  const hangs = servers.use(await serve(() => undefined));
  const hangsInBody = servers.use(
    await serve((_request, response) => {
      response.writeHead(200).write('{');
    }),
  );
  const endless = servers.use(
    await serve((_request, response) => {
      const chunk = Buffer.alloc(2 ** 16, 'x');
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', pour);
      pour();
    }),
  );
  const urls = [hangs.url, hangsInBody.url, endless.url];
  const replicas = Array.from({ length: 99 }, (_, index) => ({
    service: 'router',
    url: urls[index % urls.length] ?? '',
  }));
  const reports = await lookAtAll(replicas, 100);
  assert.deepEqual(
    reports.map(({ url }) => url),
    replicas.map(({ url }) => url),
  );
  assert.deepEqual(
    reports.slice(0, 2).map(({ state, reason }) => [state, reason]),
    [
      ['silent', 'no response within 0.1 s'],
      ['silent', 'no response within 0.1 s'],
    ],
  );
  const closed = await serve(healthy);
  await closed[Symbol.asyncDispose]();
  const [gone] = await lookAtAll([{ service: 'router', url: closed.url }], limitMs);
  assert.deepEqual([gone?.state, gone?.reason], ['silent', 'nothing listens on this port']);
});

test('a replica that refuses at first, as network policies do to a new pod, is asked again', async () => {
  const closed = await serve(healthy);
  await closed[Symbol.asyncDispose]();
  const reports = lookAtAll([{ service: 'router', url: closed.url }], limitMs, requestPatiently);
  // Sent after those of the look.
  await once(request(closed.url).end(), 'error');
  await using _ = await serve(healthy, Number(new URL(closed.url).port));
  assert.equal((await reports)[0]?.state, 'ready');
});
