/** The connections of the client library for Node: TLS, proxies, agents, and a file queue across a crash. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { Agent, createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { Analytics, fileQueue, type HttpOptions } from '../../packages/analytics-node/src/index.ts';
import { gzipSync } from 'node:zlib';
import { eventually } from '@tailrace/testing';
import { status } from '../support/receivers/answers.ts';
import { certificates } from '../support/receivers/certificates.ts';
import { closedPort, startReceiver, type Receiver } from '../support/receivers/receiver.ts';

const index = path.join(import.meta.dirname, '../../packages/analytics-node/src/index.ts');

const eventsOf = ({ requests }: Receiver): string[] =>
  requests.flatMap((request) =>
    (request.json() as { batch: { event: string }[] }).batch.map(({ event }) => event),
  );

/** Sends one call, and returns what close returned, and the messages of the reports. */
async function send(options: Omit<HttpOptions, 'writeKey'>) {
  const reports: string[] = [];
  const onError = ({ message }: Error): unknown => reports.push(message);
  const client = new Analytics({ writeKey: 'wk_test', maxAttempts: 1, onError, ...options });
  client.track({ userId: 'ada', event: 'E' });
  const { unsent } = await client.close();
  return { unsent, reports };
}

/** A proxy that counts what it forwards: requests for http, tunnels for https. */
async function startProxy() {
  const forwarded: string[] = [];
  const proxy: Server = createServer((request, response) => {
    forwarded.push(`${request.method ?? ''} ${request.url ?? ''}`);
    const { hostname, port } = new URL(request.url ?? '');
    const upstream = connect(Number(port), hostname, () => {
      upstream.write(`POST /v1/batch HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\n`);
      upstream.write(`content-length: ${request.headers['content-length'] ?? 0}\r\n\r\n`);
      request.pipe(upstream, { end: false });
    });
    upstream.on('data', () => response.end('{"success":true}'));
    upstream.on('error', () => response.destroy());
  });
  proxy.on('connect', (request, socket) => {
    forwarded.push(`CONNECT ${request.url ?? ''}`);
    const { hostname, port } = new URL(`http://${request.url ?? ''}`);
    const upstream = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    forwarded,
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      proxy.close();
      proxy.closeAllConnections();
      await once(proxy, 'close');
    },
  };
}

test('a certificate of a private authority is trusted with tls.ca, and refused without', async () => {
  const { trusted, authority } = certificates();
  await using receiver = await startReceiver({ tls: trusted });
  const refused = await send({ endpoint: receiver.url });
  assert.equal(refused.unsent, 1);
  assert.match(refused.reports[0] ?? '', /certificate/);
  assert.deepEqual(await send({ endpoint: receiver.url, tls: { ca: authority } }), {
    unsent: 0,
    reports: [],
  });
  assert.deepEqual(eventsOf(receiver), ['E']);
});

test('a client certificate is presented', async () => {
  const { trusted, authority, client } = certificates();
  await using receiver = await startReceiver({ tls: { ...trusted, clientAuthority: authority } });
  assert.equal((await send({ endpoint: receiver.url, tls: { ca: authority } })).unsent, 1);
  assert.equal((await send({ endpoint: receiver.url, tls: { ca: authority, ...client } })).unsent, 0);
});

test('with proxy, requests go through it: a tunnel for https, and the request itself for http', async () => {
  await using proxy = await startProxy();
  const { trusted, authority } = certificates();
  await using secure = await startReceiver({ tls: trusted });
  await using plain = await startReceiver();
  assert.equal((await send({ endpoint: secure.url, tls: { ca: authority }, proxy: proxy.url })).unsent, 0);
  assert.equal((await send({ endpoint: plain.url, proxy: proxy.url })).unsent, 0);
  assert.deepEqual(proxy.forwarded, [`CONNECT ${new URL(secure.url).host}`, `POST ${plain.url}/v1/batch`]);
  assert.deepEqual([eventsOf(secure), eventsOf(plain)], [['E'], ['E']]);
});

test('a proxy that opens no tunnel, and one whose tunnel is silent, delay neither a retry nor close', async () => {
  for (const greeting of ['', 'HTTP/1.1 200 Connection established\r\n\r\n']) {
    let connections = 0;
    const silent = createTcpServer((socket) => {
      connections++;
      socket.once('data', () => socket.write(greeting));
      // The client resets the connection.
      socket.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const proxy = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const reports: string[] = [];
    const onError = ({ code }: { code: string }): unknown => reports.push(code);
    const endpoint = 'https://ingest.invalid';
    const client = new Analytics({ writeKey: 'wk', endpoint, proxy, timeoutMs: 50, onError });
    client.track({ userId: 'ada', event: 'E' });
    // It is tried again.
    await eventually(() => connections > 1);
    assert.deepEqual(await client.close({ deadlineMs: 0 }), { unsent: 1, kept: 0 });
    assert.deepEqual(reports, ['closed']);
    // It closes once the client has left no connection.
    silent.close();
    await once(silent, 'close');
  }
});

test('the list of rejected calls is read from a compressed answer, which was not requested', async () => {
  const body = gzipSync('{"success":true,"rejected":[{"index":0,"code":"c","message":"No."}]}').toString(
    'latin1',
  );
  const headers = { 'content-encoding': 'gzip' };
  await using receiver = await startReceiver({
    answer: () => (response) => response.writeHead(200, headers).end(body, 'latin1'),
  });
  assert.deepEqual(await send({ endpoint: receiver.url }), { unsent: 1, reports: ['1 call rejected: No.'] });
  assert.equal(receiver.requests[0]?.headers['accept-encoding'], 'identity');
  await using broken = await startReceiver({ answer: () => status(200, headers, 'not gzip') });
  assert.match(
    (await send({ endpoint: broken.url })).reports[0] ?? '',
    /1 attempts: the answer 200 cannot be read/,
  );
});

test('the proxy of the environment is used where Node uses it, except for NO_PROXY', async () => {
  await using proxy = await startProxy();
  await using receiver = await startReceiver();
  const program = `
    import { Analytics } from '${index}';
    const client = new Analytics({ writeKey: 'wk', endpoint: '${receiver.url}' });
    client.track({ userId: 'ada', event: 'E' });
    await client.close();`;
  const environments = [
    { HTTP_PROXY: proxy.url },
    { HTTP_PROXY: proxy.url, NODE_USE_ENV_PROXY: '1' },
    { HTTP_PROXY: proxy.url, NODE_USE_ENV_PROXY: '1', NO_PROXY: '127.0.0.1' },
  ];
  const counts: number[] = [];
  for (const environment of environments) {
    const env = { ...process.env, ...environment };
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { env, stdio: 'inherit' });
    await once(child, 'exit');
    counts.push(proxy.forwarded.length);
  }
  assert.deepEqual(counts, [0, 1, 1]);
  assert.equal(receiver.requests.length, 3);
});

test('a given agent is used, and not destroyed', async () => {
  await using receiver = await startReceiver();
  const agent = new Agent({ keepAlive: true });
  assert.equal((await send({ endpoint: receiver.url, agent })).unsent, 0);
  assert.equal(Object.keys(agent.freeSockets).length, 1);
  agent.destroy();
});

async function folder(t: TestContext): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tailrace-calls-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

test('calls of a killed process are sent by the next one, each once', async (t) => {
  const directory = await folder(t);
  const program = `
    import { Analytics, fileQueue } from '${index}';
    const client = new Analytics({ writeKey: 'wk', endpoint: 'http://127.0.0.1:${await closedPort()}', queue: fileQueue({ directory: '${directory}' }) });
    for (let n = 0; n < 1_000; n++) client.track({ userId: 'ada', event: 'e' + n });
    setImmediate(() => setImmediate(() => console.log('written')));
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(createInterface(child.stdout), 'line');
  const queue = fileQueue({ directory });
  const inUse = { code: 'invalid-options', field: 'queue' };
  assert.throws(() => new Analytics({ writeKey: 'wk', endpoint: 'http://127.0.0.1', queue }), inUse);
  child.kill('SIGKILL');
  await once(child, 'exit');

  await using receiver = await startReceiver();
  const client = new Analytics({ writeKey: 'wk', endpoint: receiver.url, queue });
  assert.deepEqual(await client.close(), { unsent: 0, kept: 0 });
  assert.deepEqual(
    eventsOf(receiver),
    Array.from({ length: 1_000 }, (_, n) => `e${n}`),
  );
  assert.deepEqual(await readdir(directory), []);
});

test('calls that close could not send are kept and not reported, also after an exception', async (t) => {
  const directory = await folder(t);
  const queue = fileQueue({ directory });
  const reports: unknown[] = [];
  const endpoint = `http://127.0.0.1:${await closedPort()}`;
  const first = new Analytics({ writeKey: 'wk', endpoint, queue, onError: (error) => reports.push(error) });
  first.track({ userId: 'ada', event: 'kept' });
  assert.deepEqual(await first.close({ deadlineMs: 20 }), { unsent: 0, kept: 1 });
  assert.deepEqual(reports, []);

  const program = `
    import { Analytics, fileQueue } from '${index}';
    const client = new Analytics({ writeKey: 'wk', endpoint: '${endpoint}', queue: fileQueue({ directory: '${directory}' }) });
    client.track({ userId: 'ada', event: 'before the exception' });
    process.on('exit', () => client.track({ userId: 'ada', event: 'at the exit' }));
    process.stderr.write = () => true;
    throw new Error('a defect of the program');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' });
  await once(child, 'exit');

  await using receiver = await startReceiver();
  const last = new Analytics({ writeKey: 'wk', endpoint: receiver.url, queue });
  assert.deepEqual(await last.close(), { unsent: 0, kept: 0 });
  assert.deepEqual(eventsOf(receiver), ['kept', 'before the exception', 'at the exit']);
});
