/** Tracing where it must cost nothing: it is off, or its collector does not work. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { applyConfiguration } from '@tailrace/config';
import { connectKafka } from '@tailrace/kafka';
import { sharedBroker } from '../support/kafka/broker.ts';
import { eventually } from '@tailrace/testing';
import { createTopics, uniquePrefix } from '../support/kafka/topics.ts';
import { assertAccepted, call, sendTo, startIngest, type Ingest } from '../support/processes/ingest.ts';
import { startPipeline } from '../support/processes/pipeline.ts';
import type { Environment } from '../support/processes/process.ts';
import { status } from '../support/receivers/answers.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

/** Node writes the scripts that a process has loaded to this folder when the process ends. */
async function scriptsOf(run: (env: Environment) => Promise<void>): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-scripts-'));
  try {
    await run({ NODE_V8_COVERAGE: folder });
    return globSync(path.join(folder, '*.json')).flatMap((file) => {
      const { result } = JSON.parse(readFileSync(file, 'utf8')) as { result: { url: string }[] };
      return result.map(({ url }) => url);
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('where tracing is off, no service loads a module of OpenTelemetry, and traceparent is passed on', async () => {
  const traceparent = `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`;
  const scripts = await scriptsOf(async (env) => {
    await using pipeline = await startPipeline({ env });
    await using receiver = await startReceiver();
    const { writeKey } = await pipeline.connect({ webhooks: [{ url: receiver.url }], traceparent: true });
    const headers = { traceparent };
    assertAccepted(
      await sendTo({ url: pipeline.ingestUrl, path: '/v1/track', key: writeKey, body: call(), headers }),
    );
    const [request] = await receiver.waitFor(1);
    assert.equal(request?.headers['traceparent'], traceparent);
  });
  for (const name of ['ingest', 'router', 'delivery']) {
    assert.ok(
      scripts.some((url) => url.endsWith(`services/${name}/src/main.ts`)),
      name,
    );
  }
  // prom-client itself loads @opentelemetry/api, for its metric of CPU time.
  const isOfTracing = /@opentelemetry\/(?!api\/)|tracing\/src\/(sdk|export-queue)\.ts$/;
  assert.deepEqual(
    scripts.filter((url) => isOfTracing.test(url)),
    [],
  );
});

test('where tracing is on, its modules are loaded, and spans are sent as Protobuf by default', async () => {
  await using collector = await startReceiver();
  const scripts = await scriptsOf(async (env) => {
    await using ingest = await ingestOfTest({
      ...env,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/spans`,
    });
    assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', body: call() }));
  });
  assert.ok(scripts.some((url) => url.includes('@opentelemetry/sdk-trace')));
  // What was queued is exported when the process stops.
  const [request] = await collector.waitFor(1);
  assert.equal(request?.path, '/spans');
  assert.equal(request.headers['content-type'], 'application/x-protobuf');
  assert.match(request.body.toString('latin1'), /POST \/v1\/track/);
});

for (const [what, answer] of Object.entries({
  'does not answer': () => () => undefined,
  'refuses everything': () => status(400),
})) {
  test(`a collector that ${what} delays no call and no stop, and the spans it misses are counted`, async () => {
    await using collector = await startReceiver({ answer });
    const ingest = await ingestOfTest({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_MAX_QUEUE_SIZE: '10',
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_EXPORTER_OTLP_TIMEOUT: '60000',
    });
    for (let nth = 0; nth < 50; nth += 1) {
      assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', body: call() }));
    }
    const dropped = async (): Promise<number> => {
      const page = await (await fetch(`${ingest.probesUrl}/metrics`)).text();
      return Number(/^tailrace_spans_dropped_total (\d+)$/m.exec(page)?.[1]);
    };
    // Ten spans may be in the queue, and ten in the request.
    await eventually(dropped, (count) => count >= 30);
    await ingest.process.stop();
    await ingest.process.log.find(({ msg }) => msg === 'spans not exported');
  });
}

async function ingestOfTest(env: Environment): Promise<Ingest> {
  const { brokers } = await sharedBroker();
  const silent = (): void => undefined;
  const kafka = connectKafka(
    { brokers, clientId: 'tracing-test' },
    { debug: silent, info: silent, warn: silent, error: silent },
  );
  const prefix = uniquePrefix();
  const names = await createTopics(kafka, prefix, { partitions: 1, retryScheduleMs: [1_000] });
  const source = { id: 'web', writeKeys: ['wk_web'], enabled: true };
  await applyConfiguration(kafka, names.config, { sources: [source], destinations: [] });
  await kafka.close();
  return startIngest(brokers, prefix, env);
}
