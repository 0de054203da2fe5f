/**
 * Builds the images of this checkout, a Kafka and operators, for a node, into `~/.cache/tailrace/node-images.tar`, which `up` imports. The registry
 * is that of the handbook, which nothing is pulled from.
 *
 *   node infra/node/images.ts
 */
import { rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { buildKafkaStandIn, buildProgram } from '../../test/support/docker/compose-stand-ins.ts';
import { startEngine } from '../../test/support/docker/engine.ts';
import { imageBuilder } from '../../test/support/docker/images.ts';
import { operatorImages } from '../../test/support/kubernetes/operators.ts';

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
images.push(kafka, ...Object.keys(operatorImages));
say('Building operators. Their programs are built once, which takes a quarter of an hour on two cores.');
for (const [image, program] of Object.entries(operatorImages)) await buildProgram(engine, image, program);
say('Saving');
const archive = path.join(cache, 'node-images.tar');
await engine.docker(['save', '--output', `${archive}.partial`, ...images]);
await rename(`${archive}.partial`, archive);
say(archive);
