/** The size of `/metrics` of each service does not depend on the configuration or on requests. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { applyConfiguration } from '@tailrace/config';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { probesUrlOf } from '@tailrace/service/testing';
import { eventually } from '@tailrace/testing';
import { formatDuration } from '@tailrace/events';
import { readToken, startControlHere, type ControlApi } from '../support/processes/control.ts';
import { startPipeline, type Pipeline } from '../support/processes/pipeline.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const partitions = 6;
const scheduleMs = Array.from({ length: 8 }, (_, step) => (step + 1) * 1_000);
const ids = Array.from({ length: 200 }, (_, nth) => String(nth).padStart(3, '0'));
const mostSeries = 2_000;
const mostBytes = 300 * 1024;

const opened = new AsyncDisposableStack();
let urls: Readonly<Record<'ingest' | 'router' | 'delivery' | 'control', string>>;
let control: ControlApi;
let pipeline: Pipeline;

before(async () => {
  const receiver = opened.use(await startReceiver());
  const cluster = new MemoryCluster();
  const retrySchedule = scheduleMs.map(formatDuration).join(',');
  pipeline = opened.use(
    await startPipeline({ cluster, partitions, retrySchedule, retryWindow: '2m', processMetrics: true }),
  );
  const prefix = pipeline.names.events.replace(/events$/, '');
  control = opened.use(await startControlHere(cluster, prefix, {}, { processMetrics: true }));
  await applyConfiguration(pipeline.kafka, pipeline.names.config, {
    sources: ids.map((id) => ({ id: `source-${id}`, enabled: true, writeKeys: [`wk_source_${id}`] })),
    destinations: ids.map((id) => ({
      id: `destination-${id}`,
      type: 'Webhooks',
      enabled: true,
      sources: [`source-${id}`],
      settings: { webhooks: [{ url: `${receiver.url}/${id}` }] },
    })),
  });
  const { ingest, router, delivery } = pipeline;
  urls = {
    ingest: probesUrlOf(ingest),
    router: probesUrlOf(router),
    delivery: probesUrlOf(delivery),
    control: control.probesUrl,
  };
});
after(() => opened.disposeAsync());

async function pageOf(service: keyof typeof urls, page = ''): Promise<string> {
  const response = await fetch(`${urls[service]}/metrics${page}`);
  assert.equal(response.status, 200);
  return response.text();
}

function seriesIn(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/** Calls each operation of the API without a token, with a read-only one, and with one for all operations. */
async function askEverything(): Promise<void> {
  const { paths } = (await control.ask({ path: '/openapi.json' })).json as {
    readonly paths: Readonly<Record<string, object>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ path: path.replaceAll(/\{\w+\}/g, 'none'), method })),
  );
  assert.ok(operations.length > 40);
  for (const { path, method } of operations) {
    for (const token of [null, readToken, undefined]) {
      await control.ask({
        path,
        method: method.toUpperCase(),
        ...(token !== undefined && { token }),
      });
    }
  }
  for (const method of ['PROPFIND', 'LOCK', 'HEAD', 'OPTIONS']) await control.ask({ path: '/none', method });
}

test('/metrics of each service has at most 2,000 series and 300 KB, and no series for each configured entry', async () => {
  for (const id of ids) {
    const authorization = `Basic ${Buffer.from(`wk_source_${id}:`).toString('base64')}`;
    const body = JSON.stringify({ userId: `u-${id}`, event: 'Order Completed' });
    await eventually(
      () => fetch(`${pipeline.ingestUrl}/v1/track`, { method: 'POST', headers: { authorization }, body }),
      ({ status }) => status === 200,
    );
  }
  await askEverything();
  const page = await eventually(
    () => pageOf('delivery', '/destinations'),
    (text) => text.match(/^tailrace_destination_attempts_total\{.*outcome="delivered"/gm)?.length === 200,
  );
  assert.equal(page.match(/^tailrace_destination_delivery_age_seconds_count\{.*\} 1$/gm)?.length, 200);
  assert.equal(seriesIn(await pageOf('router', '/sources')).length, 200);
  assert.equal(seriesIn(await pageOf('router', '/destinations')).length, 200);
  assert.ok(seriesIn(await pageOf('delivery', '/partitions')).length >= partitions * scheduleMs.length);
  for (const service of Object.keys(urls) as (keyof typeof urls)[]) {
    const text = await pageOf(service);
    const series = seriesIn(text);
    assert.ok(series.length <= mostSeries, `${service} has ${series.length}`);
    assert.ok(text.length <= mostBytes, `${service} has ${text.length} bytes`);
    assert.doesNotMatch(text, /(destination|source)(-\d|_id)|partition=/, service);
  }
});
