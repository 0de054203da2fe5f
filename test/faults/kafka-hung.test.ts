/** The only broker hangs: no service ends or logs a defect, and all work continues when the broker responds again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownCluster } from '../support/kafka/cluster.ts';
import { startControl } from '../support/processes/control.ts';
import { startPipelineOfProcesses } from '../support/processes/pipeline.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const hangsForMs = 40_000;

test('while the broker hangs, calls get a 503, no process ends, and no accepted call is lost', async () => {
  await using cluster = await ownCluster({ size: 1 });
  await using pipeline = await startPipelineOfProcesses({ brokers: cluster.brokers });
  const prefix = pipeline.names.events.replace(/events$/, '');
  await using control = await startControl(cluster.brokers, prefix);
  await using receiver = await startReceiver();
  const { send, post } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  const services = [pipeline.ingest, pipeline.router, pipeline.delivery, control.process];
  const pids = services.map(({ pid }) => pid);
  let accepted = 0;
  for (let nth = 0; nth < 50; nth += 1) {
    await send('track', { userId: `u-${nth}`, event: 'Before' });
    accepted += 1;
  }

  await cluster.node(1).freeze();
  const until = performance.now() + hangsForMs;
  while (performance.now() < until) {
    const [called, asked] = await Promise.all([
      post('track', { userId: 'u', event: 'Meanwhile' }),
      control.ask({ method: 'POST', path: '/v1/sources', body: { id: 'meanwhile' } }),
    ]);
    if (called.status === 200) accepted += 1;
    else assert.equal(called.status, 503, await called.text());
    assert.equal(asked.status, 503, asked.text);
  }
  cluster.node(1).thaw();

  // Calls that were answered with 503 may have been written nevertheless.
  for (let nth = 0; nth < 50;) {
    const answer = await post('track', { userId: `u-${nth}`, event: 'After' });
    if (answer.status !== 200) continue;
    nth += 1;
    accepted += 1;
  }
  await receiver.waitFor((requests) => requests.length >= accepted);
  assert.deepEqual(
    services.map(({ pid }) => pid),
    pids,
  );
  for (const { name, log } of services) {
    const defects = log.items.filter(({ level, msg }) => level === 'fatal' || msg === 'request failed');
    assert.deepEqual(defects, [], name);
  }
});
