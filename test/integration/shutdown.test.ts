/** How services stop: as the first process of a container, and below npm. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { applyConfiguration } from '@tailrace/config';
import { startScript } from '@tailrace/local';
import { probesUrlOf, urlOf } from '@tailrace/service/testing';
import { sharedBroker } from '../support/kafka/broker.ts';
import { eventually } from '@tailrace/testing';
import { openKafka } from '../support/kafka/kafka-client.ts';
import { createTopics, uniquePrefix, watchTopic } from '../support/kafka/topics.ts';
import { call, connectRaw } from '../support/processes/ingest.ts';
import { startProcess, type Environment, type ServiceProcess } from '../support/processes/process.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const { brokers } = await sharedBroker();
const prefix = uniquePrefix();
const kafka = opened.use(openKafka(brokers));
const names = await createTopics(kafka, prefix, { partitions: 2, retryScheduleMs: [1_000] });
const source = { id: 'web', writeKeys: ['wk_web'], enabled: true };
await applyConfiguration(kafka, names.config, { sources: [source], destinations: [] });
const events = opened.use(await watchTopic(kafka, names.events));

interface Started extends AsyncDisposable {
  readonly process: ServiceProcess;
  readonly url: string;
  readonly probesUrl: string;
}

interface StartOptions {
  readonly command: readonly [string, ...string[]];
  readonly signalTo?: (pid: number) => number;
  readonly env?: Environment;
}

async function startIngest({ env = {}, ...options }: StartOptions): Promise<Started> {
  const process = await startProcess({
    name: 'ingest',
    ...options,
    env: {
      KAFKA_BROKERS: brokers.join(','),
      TAILRACE_TOPIC_PREFIX: prefix,
      TAILRACE_INGEST_PORT: '0',
      TAILRACE_METRICS_PORT: '0',
      ...env,
    },
  });
  return {
    process,
    url: urlOf(process),
    probesUrl: probesUrlOf(process),
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}

/** The process below `unshare`, whose own id there is 1. */
function processOne(pid: number): number {
  const [child = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  assert.match(readFileSync(`/proc/${child}/status`, 'utf8'), /^NSpid:.*\t1$/m);
  return Number(child);
}

/** A call of which ingest has received the first half. */
async function openCall({ url, probesUrl }: Started) {
  const sent = call();
  const body = JSON.stringify(sent);
  const connection = await connectRaw(url);
  const head = [
    'POST /v1/track HTTP/1.1',
    `authorization: Basic ${btoa('wk_web:')}`,
    `content-length: ${body.length}`,
  ];
  connection.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 20)}`);
  const held = async (): Promise<number> => {
    const metrics = await (await fetch(`${probesUrl}/metrics`)).text();
    return Number(/^tailrace_ingest_held_bytes (\d+)$/m.exec(metrics)?.[1]);
  };
  await eventually(held, (bytes) => bytes > 0);
  return {
    async finish(): Promise<void> {
      connection.write(body.slice(20));
      assert.match(await connection.received, /^HTTP\/1\.1 200 /);
      await events.find(({ value }) => value?.toString().includes(sent.messageId) ?? false);
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

for (const [title, options] of [
  [
    'the first process of a container',
    {
      command: ['unshare', '--map-root-user', '--pid', '--fork', '--kill-child', startScript, 'ingest'],
      signalTo: processOne,
    },
  ],
  ['npm run ingest', { command: ['npm', 'run', 'ingest'] }],
] as const satisfies [string, StartOptions][]) {
  test(`${title} answers the call in flight after SIGTERM, and exits with 0`, async () => {
    await using ingest = await startIngest(options);
    await using inFlight = await openCall(ingest);
    const stopped = ingest.process.stop();
    await ingest.process.log.find(({ msg }) => msg === 'stopping');
    assert.equal((await fetch(`${ingest.probesUrl}/readyz`)).status, 503);
    await inFlight.finish();
    await stopped;
    assert.equal(ingest.process.log.items.at(-1)?.msg, 'stopped');
  });
}
