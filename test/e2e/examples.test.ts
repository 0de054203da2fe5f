/** The programs under examples/, run as their READMEs say: producers against the pipeline, receivers behind it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, test } from 'node:test';
import { sign } from '@tailrace/signing';
import { run } from '../support/tools/command.ts';
import { sharedBroker } from '../support/kafka/broker.ts';
import { tailrace } from '../support/processes/cli.ts';
import { buildGoProgram } from '../support/clients.ts';
import { collect, type Collected } from '@tailrace/testing';
import { startPipeline } from '../support/processes/pipeline.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const examples = path.join(import.meta.dirname, '../../examples');
const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-examples-'));
opened.defer(() => rm(folder, { recursive: true }));
const { brokers } = await sharedBroker();
const pipeline = opened.use(await startPipeline());
const sharedSecret = 'näher';

const receivers: Readonly<Record<string, () => Promise<readonly [command: string, ...args: string[]]>>> = {
  Node: () => Promise.resolve([process.execPath, path.join(examples, 'receivers/node/receiver.mjs')]),
  Python: () => Promise.resolve(['python3', path.join(examples, 'receivers/python/receiver.py')]),
  Go: async () => [await buildGoProgram(path.join(examples, 'receivers/go'), folder)],
};

interface Receiver {
  readonly url: string;
  /** Lines that it prints after the first. */
  readonly lines: Collected<string>;
}

/** Rejects where the program is missing or ends before it listens. */
async function startReceiver(name: string, env: Readonly<Record<string, string>>): Promise<Receiver> {
  const [command, ...args] = (await receivers[name]?.()) ?? assert.fail(`no example receiver in ${name}`);
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close').then(([code]) => {
    throw new Error(`the receiver in ${name} ended with ${String(code)}`);
  });
  opened.defer(async () => {
    child.kill();
    await ended.catch(() => undefined);
  });
  const output = createInterface(child.stdout);
  const [first] = (await Promise.race([once(output, 'line'), ended])) as [string];
  ended.catch(() => undefined);
  const lines = collect<string>(`what the receiver in ${name} prints`, (line) => line);
  output.on('line', (line) => {
    lines.add(line);
  });
  return { url: `${first.replace('listening on ', '')}/webhooks`, lines };
}

/** Runs each example producer with the write key of a source. */
const producers: Readonly<Record<string, (writeKey: string) => Promise<unknown>>> = {
  'send.sh': (writeKey) =>
    run('sh', [path.join(examples, 'producers/http/send.sh')], {
      env: { TAILRACE_ENDPOINT: pipeline.ingestUrl, WRITE_KEY: writeKey },
    }),
  'send.py': (writeKey) =>
    run('python3', [path.join(examples, 'producers/http/send.py')], {
      env: { TAILRACE_ENDPOINT: pipeline.ingestUrl, WRITE_KEY: writeKey },
    }),
  'produce.ts': (writeKey) =>
    run(process.execPath, [path.join(examples, 'producers/kafka/produce.ts')], {
      env: {
        KAFKA_BROKERS: brokers.join(','),
        TAILRACE_TOPIC_PREFIX: pipeline.names.config.replace(/config$/, ''),
        WRITE_KEY: writeKey,
      },
    }),
};

describe('example receivers', () => {
  for (const name of Object.keys(receivers)) {
    test(`the receiver in ${name} accepts webhooks of the pipeline and refuses forged ones`, async () => {
      const { url, lines } = await startReceiver(name, { WEBHOOK_SECRET: sharedSecret, PORT: '0' });
      const { send } = await pipeline.connect({ webhooks: [{ url }], sharedSecret });
      await send('track', { userId: 'ada', event: 'Größe gewählt' });
      await lines.waitFor(1);
      assert.deepEqual(lines.items, ['received track']);

      const body = '{"type":"track"}';
      const post = async (signature: string | undefined): Promise<number> => {
        const headers = signature === undefined ? {} : { 'X-Signature': signature };
        return (await fetch(url, { method: 'POST', body, headers })).status;
      };
      assert.equal(await post(sign(sharedSecret, body)), 204);
      assert.equal(await post(sign('another', body)), 401, 'signed with another secret');
      assert.equal(await post(sign(sharedSecret, `${body} `)), 401, 'signature of another body');
      assert.equal(await post(sign(sharedSecret, body).toUpperCase()), 401, 'not lowercase');
      assert.equal(await post(''), 401, 'an empty signature');
      assert.equal(await post(undefined), 401, 'no signature');
    });

    test(`the receiver in ${name} does not start without a secret`, async () => {
      await assert.rejects(startReceiver(name, { PORT: '0' }), /ended with 1/);
    });
  }
});

describe('example producers', () => {
  test('calls of every example producer arrive at a receiver', async () => {
    const { url, lines } = await startReceiver('Node', { WEBHOOK_SECRET: sharedSecret, PORT: '0' });
    const { writeKey } = await pipeline.connect({ webhooks: [{ url }], sharedSecret });
    for (const produce of Object.values(producers)) await produce(writeKey);
    await lines.waitFor(5);
    assert.deepEqual(lines.items.toSorted(), [
      'received identify',
      'received page',
      ...Array<string>(3).fill('received track'),
    ]);
  });

  test('the Python producer reports a call that is refused', async () => {
    await assert.rejects(producers['send.py']?.('wk_unknown') ?? Promise.resolve(), /refused with 401/);
  });
});

describe('example configuration', () => {
  const environment = { KAFKA_BROKERS: brokers.join(','), TAILRACE_SECRET_KEY: 'ab'.repeat(32) };

  test('tailrace apply accepts the file in a dry run and plans every entry', async () => {
    const { exitCode, stdout, stderr } = await tailrace(
      ['apply', '-f', path.join(examples, 'gitops/tailrace.yaml'), '--dry-run', '--output', 'json'],
      {
        ...environment,
        TAILRACE_TOPIC_PREFIX: pipeline.names.config.replace(/config$/, ''),
        CRM_SECRET: 'crm-secret',
        WAREHOUSE_SECRET: 'whsec_c2VjcmV0',
      },
    );
    assert.equal(exitCode, 0, stderr);
    const { changes } = JSON.parse(stdout) as { changes: { outcome: string }[] };
    assert.equal(changes.filter(({ outcome }) => outcome === 'created').length, 4);
  });
});
