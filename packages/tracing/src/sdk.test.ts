import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { SamplerName } from './options.ts';
import { traceTo } from './sdk.ts';
import type { NewSpan } from './sdk.ts';

const traceId = 'a1'.repeat(16);
const spanId = 'b2'.repeat(8);
const parent = `00-${traceId}-${spanId}-01`;
const unsampledParent = `00-${traceId}-${spanId}-00`;
const span = { name: 'attempt', kind: 'client', parent: undefined, attributes: {} } satisfies NewSpan;

type Report = Parameters<SpanExporter['export']>[1];

/** A collector in memory. It answers immediately unless `answers` is replaced. */
function collector(
  answer: (report: Report) => void = (report) => {
    report({ code: ExportResultCode.SUCCESS });
  },
) {
  const spans: ReadableSpan[] = [];
  const exporter: SpanExporter = {
    export(batch, report) {
      spans.push(...batch);
      answer(report);
    },
    shutdown: () => Promise.resolve(),
  };
  return { spans, exporter };
}

const failures: { error: string; spans: number }[] = [];
const options = {
  sampler: 'parentbased_always_on' as SamplerName,
  samplerRatio: 1,
  resource: { 'service.name': 'tailrace-test' },
  maxQueuedSpans: 10,
  exportEveryMs: 10,
  timeoutMs: 1_000,
  onFailure: (error: Error, spans: number) => failures.push({ error: error.message, spans }),
};

describe('a span', () => {
  test('continues the trace of its parent, and names its own id to what it causes', async () => {
    const { spans, exporter } = collector();
    const tracing = traceTo(exporter, options);
    const started = tracing.start({ ...span, parent });
    started.end();
    await tracing.close(1_000);
    assert.equal(started.traceId, traceId);
    assert.equal(started.traceparent, `00-${traceId}-${started.spanId}-01`);
    assert.equal(spans[0]?.parentSpanContext?.spanId, spanId);
    assert.equal(spans[0].resource.attributes['service.name'], 'tailrace-test');
  });

  test('begins a trace where the parent is missing or invalid', async () => {
    const { spans, exporter } = collector();
    const tracing = traceTo(exporter, options);
    for (const invalid of [
      undefined,
      'junk',
      `00-${'0'.repeat(32)}-${spanId}-01`,
      parent + 'a'.repeat(10_000),
    ]) {
      tracing.start({ ...span, parent: invalid }).end();
    }
    await tracing.close(1_000);
    assert.equal(new Set(spans.map((each) => each.spanContext().traceId)).size, 4);
    assert.ok(spans.every(({ parentSpanContext }) => parentSpanContext === undefined));
  });

  test('that continues another one has a link to it', async () => {
    const { spans, exporter } = collector();
    const tracing = traceTo(exporter, options);
    tracing.start({ ...span, parent, continues: 'c3'.repeat(8) }).end();
    await tracing.close(1_000);
    assert.deepEqual(
      spans[0]?.links.map(({ context }) => [context.traceId, context.spanId]),
      [[traceId, 'c3'.repeat(8)]],
    );
  });

  test('has its attributes, its events and its failure', async () => {
    const { spans, exporter } = collector();
    const tracing = traceTo(exporter, options);
    const started = tracing.start({ ...span, attributes: { a: 1, absent: undefined } });
    started.set({ b: 'x'.repeat(5_000) });
    started.event('dead letter', { reason: 'client-error' });
    started.fail('client-error');
    started.end();
    await tracing.close(1_000);
    assert.deepEqual(spans[0]?.attributes, { a: 1, b: 'x'.repeat(1_024) });
    assert.equal(spans[0].events[0]?.name, 'dead letter');
    assert.deepEqual(spans[0].status, { code: 2, message: 'client-error' });
  });
});

describe('sampling', () => {
  const sampledBy = async (sampler: SamplerName, header: string | undefined): Promise<boolean> => {
    const { spans, exporter } = collector();
    const tracing = traceTo(exporter, { ...options, sampler, samplerRatio: 0 });
    const started = tracing.start({ ...span, parent: header });
    started.end();
    await tracing.close(1_000);
    assert.equal(started.traceparent.endsWith('-01'), spans.length === 1);
    return spans.length === 1;
  };

  test('follows the caller with a parentbased sampler, and decides itself without a caller', async () => {
    assert.equal(await sampledBy('parentbased_always_on', undefined), true);
    assert.equal(await sampledBy('parentbased_always_on', unsampledParent), false);
    assert.equal(await sampledBy('parentbased_always_off', parent), true);
    assert.equal(await sampledBy('parentbased_traceidratio', undefined), false);
    assert.equal(await sampledBy('parentbased_traceidratio', parent), true);
  });

  test('does not follow the caller with the other samplers', async () => {
    assert.equal(await sampledBy('always_on', unsampledParent), true);
    assert.equal(await sampledBy('always_off', parent), false);
    assert.equal(await sampledBy('traceidratio', parent), false);
  });
});

describe('a collector that does not work', () => {
  test('costs no more than the queue, and each dropped span is counted', async () => {
    const { exporter } = collector(() => undefined);
    const tracing = traceTo(exporter, options);
    for (let nth = 0; nth < 25; nth += 1) tracing.start(span).end();
    assert.equal(tracing.droppedSpans, 15);
    failures.length = 0;
    await tracing.close(20);
    assert.equal(tracing.droppedSpans, 25);
    assert.deepEqual(failures, [{ error: 'the collector did not take the spans within 20 ms', spans: 10 }]);
  });

  test('loses the spans that it refuses, which are counted, and gets later ones', async () => {
    let refusals = 1;
    const { spans, exporter } = collector((report) => {
      refusals -= 1;
      report(
        refusals < 0
          ? { code: ExportResultCode.SUCCESS }
          : { code: ExportResultCode.FAILED, error: new Error('503') },
      );
    });
    const tracing = traceTo(exporter, { ...options, maxQueuedSpans: 2 });
    tracing.start(span).end();
    tracing.start(span).end();
    assert.equal(tracing.droppedSpans, 2);
    tracing.start(span).end();
    await tracing.close(1_000);
    assert.equal(tracing.droppedSpans, 2);
    assert.equal(spans.length, 3);
  });
});
