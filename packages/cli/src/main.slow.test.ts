/** What only a process shows: the executable, its exit codes, a pipe whose reader has ended, and a signal. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

const executable = path.join(import.meta.dirname, '../../../node_modules/.bin/tailrace');

function start(args: readonly string[], env: Record<string, string> = {}): ChildProcessWithoutNullStreams {
  return spawn(executable, args, {
    env: { PATH: path.dirname(process.execPath) + ':/usr/bin:/bin', ...env },
  });
}

const attempt = {
  startedAt: '2026-01-01T00:00:00.000Z',
  sourceId: 'web',
  destinationId: 'crm',
  type: 'track',
  eventId: 'event-1',
  attempt: 1,
  outcome: 'delivered',
  latencyMs: 7,
  urls: [],
};

/** Answers with attempts until the client goes away. */
function endlessAttempts(): Server {
  return createServer((_request, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const write = (): void => {
      if (response.destroyed) return;
      response.write(`${JSON.stringify(attempt)}\n`, () => setImmediate(write));
    };
    write();
  });
}

test('tail ends without an error when the reader of its output ends, and at Ctrl-C', async () => {
  await using server = endlessAttempts().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const env = {
    TAILRACE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    TAILRACE_API_TOKEN: 'token-of-this-test',
  };
  const [read, interrupted] = [start(['tail'], env), start(['tail'], env)];
  const problems = Promise.all([text(read.stderr), text(interrupted.stderr)]);
  await Promise.all([once(read.stdout, 'data'), once(interrupted.stdout, 'data')]);
  const ended = Promise.all([once(read, 'exit'), once(interrupted, 'exit')]);
  read.stdout.destroy();
  interrupted.kill('SIGINT');
  assert.deepEqual(await ended, [
    [0, null],
    [0, null],
  ]);
  assert.deepEqual(await problems, ['', '']);
});

test('results are on standard output, problems on standard error, and the exit code says which', async () => {
  const command = start(['get', 'source', '..'], { TAILRACE_API_TOKEN: 'token-of-this-test' });
  const [out, err, [exitCode]] = await Promise.all([
    text(command.stdout),
    text(command.stderr),
    once(command, 'close') as Promise<[number]>,
  ]);
  assert.deepEqual([exitCode, out], [2, '']);
  assert.equal(err, 'tailrace: ".." is not a valid id or name\nSee tailrace get source --help.\n');
});
