import assert from 'node:assert/strict';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import test from 'node:test';
import { styleText } from 'node:util';
import { TailraceError } from '@tailrace/errors';
import type { TopicSpec } from '@tailrace/kafka';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { simulateTime } from '@tailrace/testing';
import { runCli } from './run.ts';
import { unattended } from './terminal/terminal.ts';

async function tailrace(argv: string[], env: Record<string, string> = {}, input = '') {
  const out: string[] = [];
  const err: string[] = [];
  const exitCode = await runCli({
    argv,
    env,
    input: () => Readable.from([input]),
    out: (line) => out.push(...line.split('\n')),
    err: (line) => err.push(...line.split('\n')),
  });
  return { exitCode, out, err };
}

test('a replay without a filter or --all is a usage error, before the connection to Kafka', async () => {
  const nothing = await tailrace(['dead', 'replay']);
  assert.equal(nothing.exitCode, 2);
  assert.match(nothing.err.join('\n'), /a filter is missing: .*--all.*\nSee tailrace dead replay --help\.$/);
  const both = await tailrace(['dead', 'replay', '--all', '--type', 'track']);
  assert.equal(both.exitCode, 2);
  assert.match(both.err[0] ?? '', /--all cannot be used with a filter/);
});

test('invalid settings are reported together, with exit code 2', async () => {
  const { exitCode, err } = await tailrace(['topics', 'apply'], {
    TAILRACE_PARTITIONS: 'many',
    TAILRACE_RETRY_SCHEDULE: 'soon',
  });
  assert.equal(exitCode, 2);
  for (const variable of ['KAFKA_BROKERS', 'TAILRACE_PARTITIONS', 'TAILRACE_RETRY_SCHEDULE']) {
    assert.ok(
      err.some((line) => line.trim().startsWith(`${variable}: `)),
      `${variable} is named in:\n${err.join('\n')}`,
    );
  }
});

test('an invalid configuration is reported with the position of every problem and exit code 1, before the connection to Kafka', async () => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'tailrace-cli-'));
  const file = path.join(folder.path, 'tailrace.yaml');
  writeFileSync(file, 'sources:\n  - id: web\n    writeKey: [wk]\n  - id: a b\n    writeKeys: [wk]\n');
  const { exitCode, out, err } = await tailrace(['apply', '-f', file]);
  assert.equal(exitCode, 1);
  assert.deepEqual(out, []);
  assert.deepEqual(err.slice(1), [
    `  ${file}:2:5 sources[0].writeKeys: is missing; it is a list of 1 to 20 write keys`,
    `  ${file}:3:5 sources[0].writeKey: unknown key; did you mean writeKeys?`,
    `  ${file}:4:9 sources[1].id: is not 1 to 64 letters, digits, dashes and underscores`,
  ]);
});

test('a secret may be in a file beside the configuration, and a reference that leads nowhere is refused', async () => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'tailrace-cli-'));
  const file = path.join(folder.path, 'tailrace.yaml');
  writeFileSync(path.join(folder.path, 'key'), 'wk_1\n');
  writeFileSync(file, 'sources:\n  - { id: web, writeKeys: [file:key, env:WEB_KEY, file:./none] }\n');
  const refused = await tailrace(['apply', '-f', file]);
  assert.equal(refused.exitCode, 1);
  assert.deepEqual(refused.err.slice(1), [
    `  ${file}:2:38 sources[0].writeKeys[1]: refers to the environment variable WEB_KEY, which is not set`,
    `  ${file}:2:51 sources[0].writeKeys[2]: refers to the file "./none", which does not exist`,
  ]);
  writeFileSync(file, 'id: web\nwriteKeys: [file:key, env:WEB_KEY]\n');
  const created = await tailrace(['create', 'source', '-f', file]);
  assert.equal(created.exitCode, 2);
  assert.match(
    created.err[0] ?? '',
    /writeKeys\[1\]: refers to the environment variable WEB_KEY, which is not set/,
  );
});

test('every result can be shown as YAML', async () => {
  const shown = await tailrace(['completion', 'bash', '-o', 'yaml']);
  assert.equal(shown.exitCode, 0);
  assert.match(shown.out[0] ?? '', /^script: /);
});

test('an unreadable file is named, with exit code 1', async () => {
  const { exitCode, err } = await tailrace(['apply', '-f', '/nonexistent/tailrace.yaml']);
  assert.equal(exitCode, 1);
  assert.match(err.join('\n'), /\/nonexistent\/tailrace\.yaml: ENOENT/);
});

test('an id that a URL would resolve as a path is a usage error', async () => {
  const env = { TAILRACE_API_TOKEN: 'a-token-of-enough-characters-for-all' };
  const { exitCode, err } = await tailrace(['get', 'source', '..'], env);
  assert.equal(exitCode, 2);
  assert.deepEqual(err, ['tailrace: ".." is not a valid id or name', 'See tailrace get source --help.']);
});

test('standard input is read as a stream, which may have its data later', async () => {
  const env = { KAFKA_BROKERS: '127.0.0.1:1', TAILRACE_SECRET_KEY: '0123456789abcdef'.repeat(4) };
  const applied = await tailrace(['apply', '-f', '-'], env, 'sources: 7\n');
  assert.match(applied.err.join('\n'), /standard input:1:10 sources: is a number/);
  const verified = await tailrace(['config', 'verify', '-'], env, 'tailrace-export/1\n{}');
  const empty = await tailrace(['config', 'verify', '-'], env);
  assert.deepEqual([verified.exitCode, empty.exitCode], [1, 1]);
  assert.notEqual(verified.err.join('\n'), empty.err.join('\n'));
});

test('a command closes its connection to Kafka, also if it fails', async () => {
  const cluster = new MemoryCluster();
  let open = 0;
  for (const argv of [
    ['topics', 'list'],
    ['dead', 'list'],
  ]) {
    await runCli({
      argv,
      env: { KAFKA_BROKERS: 'memory:9092' },
      out: () => undefined,
      err: () => undefined,
      connect: (_settings, log, observer) => {
        const kafka = cluster.connect(log, observer);
        open += 1;
        const close = async (): Promise<void> => {
          await kafka.close();
          open -= 1;
        };
        return { ...kafka, close };
      },
    });
    assert.equal(open, 0, argv.join(' '));
  }
});

test('colours are only in output that shows them', async () => {
  const cluster = new MemoryCluster();
  const shown = async (colours: boolean): Promise<string> => {
    const lines: string[] = [];
    await runCli({
      argv: ['topics', 'apply'],
      env: { KAFKA_BROKERS: 'memory:9092' },
      out: (line) => lines.push(line),
      err: () => undefined,
      connect: (_settings, log, observer) => cluster.connect(log, observer),
      colours,
    });
    return lines[0] ?? '';
  };
  assert.equal(
    await shown(true),
    `${styleText('green', 'created', { validateStream: false })}  tailrace.events`,
  );
  assert.equal(await shown(false), 'exists   tailrace.events');
});

test('topics apply shows what it waits for on a slow new cluster, and then succeeds', async () => {
  using time = simulateTime();
  const cluster = new MemoryCluster();
  cluster.refusals.createTopics.push('REQUEST_TIMED_OUT', 'NOT_CONTROLLER');
  cluster.refusals.readEnds.push(...Array<string>(60).fill('NOT_LEADER_FOR_PARTITION'));
  const progress = new Set<string>();
  const err: string[] = [];
  const exitCode = await time.settled(
    runCli({
      argv: ['topics', 'apply'],
      env: { KAFKA_BROKERS: 'memory:9092' },
      out: () => undefined,
      err: (line) => err.push(line),
      terminal: { ...unattended, progress: (text) => void progress.add(text) },
      connect: (_settings, log, observer) => cluster.connect(log, observer),
    }),
  );
  assert.deepEqual([exitCode, err], [0, []]);
  assert.deepEqual([...progress], ['Waiting for the leaders of 26 new topics', '']);
});

test('topics apply goes on where a broker is lost at any moment after the first answer', async () => {
  const cluster = new MemoryCluster();
  const settings = { env: { KAFKA_BROKERS: 'memory:9092' }, out: () => undefined };
  const err: string[] = [];
  let calls = 0;
  const run = (losesAt: number, ...options: string[]): Promise<number> => {
    calls = 0;
    const losing = <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) => {
      return (...args: Args): Promise<Result> => {
        calls += 1;
        if (calls !== losesAt) return call(...args);
        const cause = Object.assign(new Error(), { name: 'KafkaJSConnectionClosedError' });
        return Promise.reject(new TailraceError('kafka-unavailable', undefined, { cause }));
      };
    };
    return runCli({
      ...settings,
      argv: ['topics', 'apply', ...options],
      err: (line) => err.push(line),
      connect: (_settings, log, observer) => {
        const kafka = cluster.connect(log, observer);
        return {
          ...kafka,
          listTopics: losing(() => kafka.listTopics()),
          describeTopics: losing((topics: readonly string[]) => kafka.describeTopics(topics)),
          inspectTopics: losing((specs: readonly TopicSpec[]) => kafka.inspectTopics(specs)),
        };
      },
    });
  };
  await run(0);
  assert.equal(await run(0, '--partitions', '8', '--only', 'deliveries'), 0);
  const needed = calls;
  assert.ok(needed >= 3, String(needed));
  for (let losesAt = 1; losesAt <= needed; losesAt += 1) {
    const partitions = String(8 + losesAt);
    assert.equal(await run(losesAt, '--partitions', partitions, '--only', 'deliveries'), 0, err.join('\n'));
  }
});
