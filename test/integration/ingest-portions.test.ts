/**
 * Large batches with a large context, continuously from many connections: memory is bounded, and another source is served
 * meanwhile. `PORTIONS_CONNECTIONS=50 PORTIONS_CALLS=100` measures its latency.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { applyConfiguration } from '@tailrace/config';
import { sharedBroker } from '../support/kafka/broker.ts';
import { openKafka } from '../support/kafka/kafka-client.ts';
import { createTopics, uniquePrefix } from '../support/kafka/topics.ts';
import { peakResidentBytes } from '../support/processes/flood.ts';
import { assertAccepted, call, sendTo, startIngest } from '../support/processes/ingest.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const { brokers } = await sharedBroker();
const prefix = uniquePrefix();
{
  await using kafka = openKafka(brokers);
  const names = await createTopics(kafka, prefix, { partitions: 1, retryScheduleMs: [1_000] });
  const sources = ['web', 'other'].map((id) => ({ id, writeKeys: [`wk_${id}`], enabled: true }));
  await applyConfiguration(kafka, names.config, { sources, destinations: [] });
}

const connections = Number(process.env['PORTIONS_CONNECTIONS'] ?? 20);
const calls = Number(process.env['PORTIONS_CALLS'] ?? 10);
const maxResidentBytes = 512 * 2 ** 20;

/** 2,500 calls with a context of this many bytes, as much as fits into 500 KB. */
function batch(contextBytes: number): string {
  const all = Array.from({ length: 2_500 }, (_, n) => ({ type: 'track', userId: `u-${n}`, event: 'E' }));
  return JSON.stringify({ batch: all, context: { text: 'x'.repeat(contextBytes) } });
}

for (const [what, contextBytes] of [
  ['too large for any event', 200_000],
  ['in each event', 60_000],
] as const) {
  test(`batches with a context that is ${what}, from ${connections} connections, do not hinder another source`, async (t) => {
    await using ingest = await startIngest(brokers, prefix);
    const agent = new Agent({ keepAlive: true, maxSockets: connections });
    const body = batch(contextBytes);
    const statuses: Record<number, number> = {};
    const controller = new AbortController();
    const attack = Array.from({ length: connections }, async () => {
      while (!controller.signal.aborted) {
        try {
          const headers = { authorization: `Basic ${btoa('wk_web:')}` };
          const request = httpRequest(new URL('/v1/batch', ingest.url), {
            ...{ agent, method: 'POST', headers, signal: controller.signal },
          });
          request.end(body);
          const [response] = (await once(request, 'response')) as [IncomingMessage];
          response.resume();
          await once(response, 'close');
          statuses[response.statusCode ?? 0] = (statuses[response.statusCode ?? 0] ?? 0) + 1;
        } catch {
          // The end of the test.
        }
      }
    });
    const latencies: number[] = [];
    while (latencies.length < calls) {
      const startedAt = performance.now();
      assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', body: call(), key: 'wk_other' }));
      latencies.push(performance.now() - startedAt);
      await wait(20);
    }
    const metrics = await (await fetch(`${ingest.probesUrl}/metrics`)).text();
    const lag = Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1]);
    controller.abort();
    await Promise.all(attack);
    agent.destroy();
    latencies.sort((a, b) => a - b);
    const peak = peakResidentBytes(ingest.process.pid ?? 0) ?? 0;
    const at = (share: number): string =>
      `${Math.round(latencies[Math.floor((latencies.length - 1) * share)] ?? NaN)} ms`;
    t.diagnostic(
      `${JSON.stringify(statuses)}; the other source: ${latencies.length} calls, p50 ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)}; ` +
        `event loop held ${Math.round(lag * 1_000)} ms; ${peak >> 20} MB resident`,
    );
    assert.ok(peak <= maxResidentBytes, `${peak} bytes were resident`);
  });
}
