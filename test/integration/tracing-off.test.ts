/** Tracing where it must cost nothing: it is off, or its collector does not work. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { eventually } from '@tailrace/testing';
import { openStage } from '../../services/ingest/src/testing/stage.ts';
import { assertAccepted, call, sendTo } from '../support/processes/ingest.ts';
import { startPipeline } from '../support/processes/pipeline.ts';
import type { Environment } from '../support/processes/process.ts';
import { status } from '../support/receivers/answers.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const root = path.join(import.meta.dirname, '../..');

/** Starts and stops the pipeline in one process. Node writes the scripts that it has loaded when it ends. */
async function scriptsOfPipeline(env: Environment): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-scripts-'));
  const source = `
    import { MemoryCluster } from '@tailrace/kafka/testing';
    import { startPipeline } from './test/support/processes/pipeline.ts';
    await using pipeline = await startPipeline({ cluster: new MemoryCluster(), env: ${JSON.stringify(env)} });
    await pipeline.connect([]);
  `;
  try {
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', source], {
      cwd: root,
      env: { ...process.env, NODE_V8_COVERAGE: folder },
    });
    return globSync(path.join(folder, '*.json')).flatMap((file) => {
      const { result } = JSON.parse(readFileSync(file, 'utf8')) as { result: { url: string }[] };
      return result.map(({ url }) => url);
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('no service loads a module of OpenTelemetry where tracing is off, and does where it is on', async () => {
  const off = await scriptsOfPipeline({});
  for (const name of ['ingest', 'router', 'delivery']) {
    assert.ok(
      off.some((url) => url.endsWith(`services/${name}/src/open.ts`)),
      name,
    );
  }
  // prom-client itself loads @opentelemetry/api, for its metric of CPU time.
  const isOfTracing = /@opentelemetry\/(?!api\/)|tracing\/src\/(sdk|export-queue)\.ts$/;
  assert.deepEqual(
    off.filter((url) => isOfTracing.test(url)),
    [],
  );
  await using collector = await startReceiver();
  const on = await scriptsOfPipeline({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  assert.ok(on.some((url) => url.includes('@opentelemetry/sdk-trace')));
});

test('where tracing is off, traceparent is passed on', async () => {
  const traceparent = `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`;
  await using pipeline = await startPipeline({ cluster: new MemoryCluster() });
  await using receiver = await startReceiver();
  const { writeKey } = await pipeline.connect({ webhooks: [{ url: receiver.url }], traceparent: true });
  const headers = { traceparent };
  assertAccepted(
    await sendTo({ url: pipeline.ingestUrl, path: '/v1/track', key: writeKey, body: call(), headers }),
  );
  const [request] = await receiver.waitFor(1);
  assert.equal(request?.headers['traceparent'], traceparent);
});

test('spans are sent as Protobuf by default, those in the queue when the service stops', async () => {
  await using collector = await startReceiver();
  {
    const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/spans` };
    await using ingest = await openStage({ env });
    assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', body: call() }));
  }
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
    await using ingest = await openStage({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_BSP_MAX_QUEUE_SIZE: '10',
        OTEL_BSP_SCHEDULE_DELAY: '10',
        OTEL_EXPORTER_OTLP_TIMEOUT: '60000',
      },
    });
    for (let nth = 0; nth < 50; nth += 1) {
      assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', body: call() }));
    }
    const dropped = async (): Promise<number> => {
      return Number(/^tailrace_spans_dropped_total (\d+)$/m.exec(await ingest.metrics())?.[1]);
    };
    // Ten spans may be in the queue, and ten in the request.
    await eventually(dropped, (count) => count >= 30);
    await ingest.service.stop();
    await ingest.service.log.find(({ msg }) => msg === 'spans not exported');
  });
}
