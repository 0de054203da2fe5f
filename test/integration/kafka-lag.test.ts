/** Lag, requests and commits of a consumer whose brokers hang or die. One process, one broker of its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConfig } from '@tailrace/config';
import { connectKafka, type RequestApi, type RequestOutcome } from '@tailrace/kafka';
import { createMetrics, startProbeServer, watchConsumption } from '@tailrace/service';
import { ownCluster } from '../support/kafka/cluster.ts';
import { eventually } from '@tailrace/testing';
import { joinGroup, openKafka } from '../support/kafka/kafka-client.ts';

const silent = (): void => undefined;
const noLog = { debug: silent, info: silent, warn: silent, error: silent };

test('while its only broker hangs or is down, a consumer reports a growing lag, an ageing configuration, and its requests and commits as failed', async (t) => {
  await using cluster = await ownCluster({ size: 1 });
  const node = cluster.node(1);
  await using admin = openKafka(cluster.brokers);
  const [busy, quiet] = [await admin.createTopic(), await admin.createTopic()];
  const requests = new Map<string, number>();
  const countOf = (api: RequestApi, outcome: RequestOutcome): number =>
    requests.get(`${api} ${outcome}`) ?? 0;
  const timeouts = (): number =>
    [...requests].reduce((all, [what, count]) => all + (what.endsWith(' timeout') ? count : 0), 0);
  const kafka = connectKafka({ brokers: cluster.brokers, clientId: 'lag-test' }, noLog, {
    onRequest: (api, outcome) => requests.set(`${api} ${outcome}`, countOf(api, outcome) + 1),
  });
  const publisher = admin.publisher();
  for (const value of ['1', '2', '3']) await publisher.publish({ topic: busy, key: 'k', value });
  const member = await joinGroup(kafka, { groupId: `${busy}.group`, topics: [busy, quiet] });
  t.after(async () => {
    await member.close();
    await kafka.close();
  });
  const config = await openConfig(kafka, await admin.createTopic(), noLog);
  t.after(() => config.close());
  const metrics = createMetrics();
  metrics.gauge('tailrace_config_age_seconds', () => config.ageMs / 1_000);
  watchConsumption(metrics, member);
  const probes = await startProbeServer({ port: 0, metrics, readiness: () => ({ ready: true, checks: [] }) });
  t.after(() => probes.close());
  const scrape = async (): Promise<Map<string, number>> => {
    const text = await (await fetch(`http://127.0.0.1:${probes.port}/metrics`)).text();
    return new Map(
      text.split('\n').map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
    );
  };
  const lagOf = async (topic: string): Promise<number | undefined> =>
    (await scrape()).get(`tailrace_consumer_lag_seconds{topic="${topic}"}`);

  const configAge = async (): Promise<number> => (await scrape()).get('tailrace_config_age_seconds') ?? NaN;

  const [first] = await member.records.waitFor(3);
  await eventually(
    () => lagOf(quiet),
    (lag) => lag === 0,
  );
  assert.ok(countOf('Fetch', 'ok') > 0 && countOf('JoinGroup', 'ok') > 0);
  assert.equal(countOf('Fetch', 'timeout'), 0);

  await t.test('a broker that hangs', async () => {
    await eventually(configAge, (age) => age < 5);
    await node.freeze();
    first?.done();
    const before = (await lagOf(busy)) ?? NaN;
    assert.ok(before > 0);
    // The end of the quiet topic is known for a while.
    await eventually(
      () => lagOf(quiet),
      (lag) => lag === undefined,
    );
    await eventually(
      () => lagOf(busy),
      (lag = 0) => lag >= before + 10,
    );
    await eventually(configAge, (age) => age >= 10);
    await eventually(
      () => countOf('Fetch', 'timeout'),
      (count) => count > 0,
    );
    // A scrape that waited for the broker would end when a request of its own has timed out.
    const scrapes = 20;
    const timeoutsBefore = timeouts();
    for (let nth = 0; nth < scrapes; nth += 1) await scrape();
    assert.ok(timeouts() - timeoutsBefore < scrapes);
    await eventually(
      async () => (await scrape()).get('tailrace_kafka_commit_failures_total'),
      (count = 0) => count > 0,
    );
    node.thaw();
    await eventually(
      () => lagOf(quiet),
      (lag) => lag === 0,
    );
    await eventually(configAge, (age) => age < 5);
  });

  await t.test('a broker that is down', async () => {
    const withoutWork = async (): Promise<number> =>
      (await scrape()).get('tailrace_consumer_without_work_seconds_total') ?? NaN;
    const before = await withoutWork();
    await node.kill();
    await eventually(
      () => countOf('Connect', 'disconnected'),
      (count) => count > 0,
    );
    // A broker that is back sooner knows the member, which then does not join again.
    await eventually(withoutWork, (after) => after > before);
    await node.restart();
    await eventually(
      () => member.totals.rebalances,
      (count) => count > 0,
    );
    await eventually(
      () => {
        // The records are received again.
        for (const record of member.records.items) record.done();
        return lagOf(busy);
      },
      (lag) => lag === 0,
    );
  });
});
