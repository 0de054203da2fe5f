/**
 * Builds the images of this checkout, and a Kafka, for a node, into `~/.cache/tailrace/node-images.tar`, which `up` imports. The registry is that
 * of the handbook, which nothing is pulled from.
 *
 *   node infra/node/images.ts
 */
import { rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { buildKafkaStandIn } from '../../test/support/docker/compose-stand-ins.ts';
import { startEngine } from '../../test/support/docker/engine.ts';
import { imageBuilder } from '../../test/support/docker/images.ts';

const registry = 'registry.example.com/team';
/** The version of the chart, and the one that the handbook upgrades to. */
const tags = ['0.1.0', '1.2.3'];
const kafka = 'apache/kafka:4.3.1';

const cache = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'tailrace');
const say = (line: string): void => void process.stderr.write(`${line}\n`);

await using engine = await startEngine();
const builder = await imageBuilder(engine);
const images: string[] = [];
for (const target of ['ingest', 'router', 'delivery', 'control', 'cli']) {
  const names = tags.map((tag) => `${registry}/tailrace-${target}:${tag}`);
  const [first = '', ...others] = names;
  say(`Building ${target}`);
  await builder.build(target, first);
  for (const name of others) await engine.docker(['tag', first, name]);
  images.push(...names);
}
say('Building kafka');
await buildKafkaStandIn(engine, kafka);
say('Saving');
const archive = path.join(cache, 'node-images.tar');
await engine.docker(['save', '--output', `${archive}.partial`, ...images, kafka]);
await rename(`${archive}.partial`, archive);
say(archive);
