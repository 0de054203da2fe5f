/** The two servers that are compared, each in its own process: ingest with default settings, and the bare server. */
import path from 'node:path';
import { applyConfiguration } from '@tailrace/config';
import { freePort } from '@tailrace/local';
import { topicNames, topicSpecs } from '@tailrace/topology';
import type { FromBareServer, PartSettings, ToBareServer } from '../pipeline/bare-parts.ts';
import type { Bench } from '../processes/bench.ts';
import { startChild } from '../processes/children.ts';
import { untilTaken, withKafka } from '../processes/kafka.ts';
import type { Target } from '../load/load.ts';
import { spawnService } from '../processes/service-process.ts';

export interface Contender extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  readonly headers: Target['headers'];
}

const writeKey = 'wk_bench';
const names = topicNames('tailrace.');
const bareTopic = 'bare-parts';
const startsWithinMs = 30_000;

/** Creates a topic of the same kind for each server, and the source for ingest. */
export async function prepareTopics({ brokers }: Pick<Bench, 'brokers'>, partitions: number): Promise<void> {
  const source = { id: 'bench', writeKeys: [writeKey], enabled: true, rateLimitBytes: 1_000_000_000 };
  const specs = topicSpecs(names, { partitions, retryScheduleMs: [10_000] });
  const bare = specs
    .filter(({ name }) => name === names.events)
    .map((events) => ({ ...events, name: bareTopic }));
  await withKafka(brokers, async (kafka) => {
    await kafka.ensureTopics([...specs, ...bare]);
    await untilTaken(() => applyConfiguration(kafka, names.config, { sources: [source], destinations: [] }));
  });
}

export async function startIngest(
  { brokers, folder }: Pick<Bench, 'brokers' | 'folder'>,
  profileFile: string | undefined,
): Promise<Contender> {
  const port = await freePort();
  const service = await spawnService({
    name: 'ingest',
    logFile: path.join(folder, 'ingest.log'),
    profileFile,
    env: { KAFKA_BROKERS: brokers.join(','), TAILRACE_INGEST_PORT: String(port) },
  });
  await service.ready;
  const headers = {
    authorization: `Basic ${btoa(`${writeKey}:`)}`,
    'content-type': 'application/json',
  };
  return { pid: service.pid, port, headers, [Symbol.asyncDispose]: () => service.stop() };
}

export async function startBareServer({ brokers }: Pick<Bench, 'brokers'>): Promise<Contender> {
  const settings: Pick<PartSettings, 'brokers' | 'topic'> = { brokers, topic: bareTopic };
  const child = startChild<ToBareServer, FromBareServer>('processes/bare-server-process.ts', [
    JSON.stringify(settings),
  ]);
  const { port } = await child.receive('listening', startsWithinMs);
  const headers = { 'content-type': 'application/json' };
  return { pid: child.pid, port, headers, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
}
