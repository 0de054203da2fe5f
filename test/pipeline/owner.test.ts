/** Two installations with the same prefix on one Kafka. */
import assert from 'node:assert/strict';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import type { LogLine } from '@tailrace/service/testing';
import { collect, eventually } from '@tailrace/testing';
import { topicNames, topicSpecs } from '@tailrace/topology';
import { adminToken } from '../support/processes/control.ts';
import { startServiceHere, type ServiceName } from '../support/processes/here.ts';

const names = topicNames('tailrace.');

test('control marks topics without an owner, and no service of another installation starts on them', async () => {
  const cluster = new MemoryCluster();
  await using kafka = cluster.connect();
  await kafka.ensureTopics(topicSpecs(names, { partitions: 1, retryScheduleMs: [1_000] }));
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'tailrace-owner-'));
  const envOf = (owner: string) => ({
    TAILRACE_OWNER: owner,
    TAILRACE_RETRY_SCHEDULE: '1s',
    TAILRACE_INGEST_PORT: '0',
    TAILRACE_CONTROL_PORT: '0',
    TAILRACE_API_TOKEN: adminToken,
    TAILRACE_DATA_DIR: path.join(folder.path, path.dirname(owner)),
  });
  await using started = new AsyncDisposableStack();
  started.use(await startServiceHere('control', envOf('one/tailrace'), { cluster }));
  const ownerOf = (): string | undefined =>
    cluster
      .records(names.config)
      .findLast(({ key }) => String(key) === 'owner')
      ?.value?.toString();
  await eventually(ownerOf, (owner) => owner === 'one/tailrace');

  const services: readonly ServiceName[] = ['ingest', 'router', 'delivery', 'control'];
  const starting = services.map((name) => {
    const log = collect<LogLine>(`the log of ${name}`, (line) => JSON.stringify(line));
    const start = startServiceHere(name, envOf('two/tailrace'), { cluster, onLine: log.add });
    return { log, start };
  });
  for (const { log } of starting) {
    const { msg } = await log.find(({ code }) => code === 'other-owner');
    assert.match(String(msg), /belong to the installation "one\/tailrace", and this one is "two\/tailrace"/);
  }
  for (const group of ['router', 'delivery']) {
    assert.deepEqual(await cluster.memberIds(`tailrace.${group}`), []);
  }

  // They start where they take the topics over.
  await kafka.publisher().publish({ topic: names.config, key: 'owner', value: 'two/tailrace' });
  for (const { start } of starting) started.use(await start);
});
