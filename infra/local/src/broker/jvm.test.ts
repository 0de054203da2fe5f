import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { missingForJvm, parseJavaMajor } from './jvm.ts';

test('the version of Java is parsed in the current and the old format', () => {
  assert.equal(parseJavaMajor('openjdk version "17.0.15" 2025-04-15'), 17);
  assert.equal(parseJavaMajor('java version "1.8.0_402"'), 8);
  assert.equal(parseJavaMajor('openjdk version "25" 2025-09-16'), 25);
  assert.equal(parseJavaMajor('command not found'), undefined);
});

test('missing and outdated programs are reported', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'tailrace-java-'));
  const env = { PATH: dir, XDG_CACHE_HOME: dir };
  assert.equal(await missingForJvm(env), 'Java 17 or later and Maven');
  for (const [name, script] of [
    ['java', 'echo \'openjdk version "11.0.2"\' >&2'],
    ['mvn', 'exit 0'],
  ] as const) {
    await writeFile(join(dir, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(dir, name), 0o755);
  }
  assert.equal(await missingForJvm(env), 'Java 17 or later (found: Java 11)');
  await rm(dir, { recursive: true, force: true });
});
