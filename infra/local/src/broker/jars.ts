/**
 * Apache Kafka's jars, which Maven resolves by name. SHA256SUMS pins their content, and is checked at every start. The name of
 * their folder in the cache contains a digest of SHA256SUMS, so that checkouts with different pins use different folders.
 */
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TailraceError } from '@tailrace/errors';
import type { Environment, Progress } from './node.ts';
import { cacheDir, makeCached, runMaven, type MavenRun } from './maven.ts';

export const kafkaVersion = '4.3.1';
/** The default image, where a Docker engine runs the broker. */
export const kafkaImage = `apache/kafka:${kafkaVersion}`;

const kafkaDir = join(import.meta.dirname, '../..', 'kafka');

/**
 * Returns the class path of the broker.
 *
 * @throws TailraceError `local-start-failed`, with what to do about it
 */
export async function resolveJars(
  env: Environment,
  progress: Progress,
  signal: AbortSignal,
): Promise<string> {
  const { dir, pinned } = await locate(env);
  progress('checking the jars');
  const isIntact = async (): Promise<boolean> => (await findFaults(dir, pinned)).length === 0;
  if (!(await isIntact())) {
    await rm(dir, { recursive: true, force: true });
    await makeCached(dir, (partial) => fill(partial, pinned, { env, progress, signal }), isIntact);
  }
  return join(dir, '*');
}

/** Whether the cache is complete, so that Maven is not needed. */
export async function areJarsCached(env: Environment): Promise<boolean> {
  return existsSync((await locate(env)).dir);
}

async function locate(env: Environment): Promise<{ dir: string; pinned: Map<string, string> }> {
  const sums = await readFile(join(kafkaDir, 'SHA256SUMS'), 'utf8');
  const digest = hash('sha256', sums).slice(0, 12);
  const dir = join(cacheDir(env), `kafka-${kafkaVersion}-${digest}`);
  return { dir, pinned: parseSums(sums) };
}

/** Parses the output of `sha256sum` to a map from name to digest. */
export function parseSums(text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const match = /^([0-9a-f]{64}) [ *](\S+)$/.exec(line);
      if (!match?.[1] || !match[2]) throw new Error(`Not a line of sha256sum: ${line}`);
      return [match[2], match[1]];
    }),
  );
}

/** One phrase for each jar in `dir` that is missing, not pinned, or different from its pin. */
export async function findFaults(dir: string, pinned: ReadonlyMap<string, string>): Promise<string[]> {
  const present: string[] = await readdir(dir).catch(() => []);
  const extra = present.filter((name) => !pinned.has(name)).map((name) => `${name} is not a pinned jar`);
  const checked = await Promise.all(
    [...pinned].map(async ([name, expected]) => {
      if (!present.includes(name)) return `${name} is missing`;
      const actual = hash('sha256', await readFile(join(dir, name)));
      return actual === expected ? undefined : `${name} does not have its pinned checksum`;
    }),
  );
  return [...extra, ...checked.filter((fault) => fault !== undefined)];
}

async function fill(folder: string, pinned: ReadonlyMap<string, string>, run: MavenRun): Promise<void> {
  run.progress(`resolving Apache Kafka ${kafkaVersion} with Maven`);
  const pom = join(kafkaDir, 'pom.xml');
  const args = ['-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
  let downloaded = 0;
  const failure = await runMaven(args, run, (line) => {
    const jar = /Downloaded from .*\/([^/]+\.jar) /.exec(line)?.[1];
    if (jar === undefined || !pinned.has(jar)) return;
    downloaded += 1;
    run.progress('downloading jars', { done: downloaded, total: pinned.size });
  });
  if (failure !== undefined) throw failed(`Maven could not resolve Apache Kafka ${kafkaVersion}: ${failure}`);
  const faults = await findFaults(folder, pinned);
  if (faults.length === 0) return;
  throw failed(
    `The jars that Maven resolved are not those of ${join(kafkaDir, 'SHA256SUMS')}: ${faults.join('; ')}. ` +
      'Delete the named jars from the local Maven repository (~/.m2/repository) and start again.',
  );
}

function failed(why: string): TailraceError {
  return new TailraceError('local-start-failed', why);
}
