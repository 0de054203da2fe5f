import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { areJarsCached, findFaults, parseSums, resolveJars } from './jars.ts';

async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'tailrace-jars-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** An environment with an empty cache and a script that replaces Maven. */
async function withMaven(dir: string, script: string): Promise<Record<string, string>> {
  await writeFile(join(dir, 'mvn'), `#!/bin/sh\n${script}\n`);
  await chmod(join(dir, 'mvn'), 0o755);
  return { PATH: `${dir}:${process.env['PATH'] ?? ''}`, XDG_CACHE_HOME: join(dir, 'cache') };
}

const quiet = (): void => undefined;
const never = new AbortController().signal;

test('every pinned jar has a name with a version and a SHA-256', async () => {
  const sums = await readFile(join(import.meta.dirname, '../..', 'kafka', 'SHA256SUMS'), 'utf8');
  const pinned = parseSums(sums);
  assert.ok(pinned.has('kafka_2.13-4.3.1.jar'));
  for (const name of pinned.keys()) assert.match(name, /-\d+(\.\d+)+(-\d+)?\.jar$/);
});

test('a line that is not in the format of sha256sum is refused', () => {
  assert.throws(() => parseSums('abc  kafka.jar\n'), /Not a line/);
});

test('a jar that is missing, modified or not pinned is reported', async () => {
  await using dir = await temporaryDirectory();
  const digest = createHash('sha256').update('right').digest('hex');
  const pinned = new Map(['a.jar', 'b.jar', 'c.jar'].map((name) => [name, digest]));
  await writeFile(join(dir.path, 'a.jar'), 'right');
  await writeFile(join(dir.path, 'b.jar'), 'wrong');
  await writeFile(join(dir.path, 'd.jar'), 'right');
  assert.deepEqual(await findFaults(dir.path, pinned), [
    'd.jar is not a pinned jar',
    'b.jar does not have its pinned checksum',
    'c.jar is missing',
  ]);
});

test('jars that do not match the pins are reported, and are not cached', async () => {
  await using dir = await temporaryDirectory();
  const env = await withMaven(
    dir.path,
    'for arg in "$@"; do case $arg in -DoutputDirectory=*) echo evil > "${arg#*=}/kafka_2.13-4.3.1.jar";; esac; done',
  );
  await assert.rejects(resolveJars(env, quiet, never), {
    code: 'local-start-failed',
    message: /kafka_2\.13-4\.3\.1\.jar does not have its pinned checksum/,
  });
  assert.equal(await areJarsCached(env), false);
  assert.deepEqual(await readdir(join(dir.path, 'cache', 'tailrace')), []);
});

test('the error of Maven is reported', async () => {
  await using dir = await temporaryDirectory();
  const env = await withMaven(dir.path, 'echo "[ERROR] Network is unreachable"; exit 1');
  await assert.rejects(
    resolveJars(env, quiet, never),
    /could not resolve Apache Kafka .*: Network is unreachable/,
  );
});

test('a cancelled start stops Maven and leaves nothing in the cache', async () => {
  await using dir = await temporaryDirectory();
  const env = await withMaven(dir.path, 'exec sleep 60');
  const giveUp = new AbortController();
  const resolving = resolveJars(
    env,
    (phrase) => {
      if (phrase.startsWith('resolving'))
        setImmediate(() => {
          giveUp.abort(new Error('given up'));
        });
    },
    giveUp.signal,
  );
  await assert.rejects(resolving, /given up/);
  assert.deepEqual(await readdir(join(dir.path, 'cache', 'tailrace')), []);
});
