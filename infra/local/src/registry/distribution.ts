/** The distribution of the schema registry, Apicurio Registry with its dependencies, unpacked from a file with the pinned checksum. */
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TailraceError } from '@tailrace/errors';
import { parseSums } from '../broker/jars.ts';
import { cacheDir, makeCached, runMaven, type MavenRun } from '../broker/maven.ts';

const registryVersion = '3.0.9';
const artifact = `io.apicurio:apicurio-registry-app:${registryVersion}:tar.gz:all`;
/** Later versions of the plugin also require the POMs of the artifact's parents, which are not needed here. */
const copyGoal = 'org.apache.maven.plugins:maven-dependency-plugin:2.10:copy';
const sumsFile = join(import.meta.dirname, '../..', 'registry', 'SHA256SUMS');

/**
 * Returns the path of the jar to run.
 *
 * @throws TailraceError `local-start-failed`, with what to do about it
 */
export async function resolveRegistry(run: MavenRun): Promise<string> {
  const [pinned] = [...parseSums(await readFile(sumsFile, 'utf8'))];
  if (!pinned) throw new Error(`${sumsFile} names no file`);
  const [file, digest] = pinned;
  const home = join(cacheDir(run.env), `registry-${registryVersion}-${digest.slice(0, 12)}`);
  const isMade = (): Promise<boolean> => Promise.resolve(existsSync(home));
  if (!(await isMade())) await makeCached(home, (partial) => unpack(partial, file, digest, run), isMade);
  return join(home, `apicurio-registry-app-${registryVersion}-runner.jar`);
}

async function unpack(into: string, file: string, digest: string, run: MavenRun): Promise<void> {
  const download = join(into, 'download');
  run.progress(`resolving Apicurio Registry ${registryVersion} with Maven: 109 MB`);
  const failure = await runMaven([copyGoal, `-Dartifact=${artifact}`, `-DoutputDirectory=${download}`], run);
  const archive = join(download, file);
  const found = failure ?? (existsSync(archive) ? undefined : `${file} is missing`);
  if (found !== undefined) throw failed(`Maven could not resolve it: ${found}`);
  if (hash('sha256', await readFile(archive)) !== digest) {
    throw failed(
      `${file} does not have the checksum of ${sumsFile}. Delete it from the local Maven repository ` +
        '(~/.m2/repository/io/apicurio) and start again.',
    );
  }
  run.progress('unpacking Apicurio Registry');
  await promisify(execFile)('tar', ['-xzf', archive, '-C', into]);
  await rm(download, { recursive: true });
}

function failed(why: string): TailraceError {
  return new TailraceError(
    'local-start-failed',
    `Apicurio Registry ${registryVersion} is not available. ${why}`,
  );
}
