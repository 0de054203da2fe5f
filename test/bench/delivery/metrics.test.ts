import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { measureScrape, parseMetrics } from './metrics.ts';

const text = `# HELP tailrace_consumer_lag_records Records.
# TYPE tailrace_consumer_lag_records gauge
tailrace_consumer_lag_records{topic="a",partition="0"} 3
tailrace_consumer_lag_records{topic="a",partition="1"} 4
tailrace_consumer_lag_records{topic="b",partition="0"} 5
tailrace_deliveries_queued 2
`;

test('a metric is the sum of the samples that have the labels', () => {
  const metrics = parseMetrics(text);
  assert.equal(metrics.sum('tailrace_consumer_lag_records'), 12);
  assert.equal(metrics.sum('tailrace_consumer_lag_records', { topic: 'a' }), 7);
  assert.equal(metrics.sum('tailrace_consumer_lag_records', { topic: 'b', partition: '0' }), 5);
  assert.equal(metrics.sum('tailrace_deliveries_queued'), 2);
});

test('a counter that was never counted is zero', () => {
  assert.equal(parseMetrics(text).sum('tailrace_dead_letters_total'), 0);
});

test('a scrape is measured by its size, its series, and how long others waited; a page that is not there, not', async () => {
  await using server = createServer((request, response) => {
    response.writeHead(request.url === '/other' ? 404 : 200).end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const scrape = await measureScrape(port, '/metrics');
  assert.partialDeepStrictEqual(scrape, { bytes: text.length, series: 4 });
  assert.ok(scrape !== undefined && scrape.tookMs > 0 && scrape.heldMs > 0);
  assert.equal(await measureScrape(port, '/other'), undefined);
});
