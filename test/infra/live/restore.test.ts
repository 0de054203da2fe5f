/** A Kafka cluster is lost with everything in it. An empty cluster gets the configuration from an export, and delivers. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempDisposableSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { verifySignature } from '@tailrace/signing';
import { ownBroker } from '../../support/kafka/broker.ts';
import { tailrace } from '../../support/processes/cli.ts';
import { startPipelineOfProcesses } from '../../support/processes/pipeline.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';

const sharedSecret = 'known-to-the-receiver';
const token = 'Bearer of-the-receiver';
const oldKey = randomBytes(32).toString('hex');
const newKey = randomBytes(32).toString('hex');

test('an empty cluster is restored from an export, and signs with the same secrets', async () => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'tailrace-restore-'));
  const file = path.join(folder.path, 'tailrace.export');
  await using receiver = await startReceiver();
  const configuration = {
    sources: [{ id: 'web', writeKeys: ['wk_restored'] }],
    destinations: [
      {
        id: 'crm',
        type: 'Webhooks',
        sources: ['web'],
        settings: {
          sharedSecret,
          webhooks: [
            { url: receiver.url, headers: { Authorization: token }, secretHeaders: ['Authorization'] },
          ],
        },
      },
    ],
  };
  {
    await using lost = await ownBroker();
    const env = { KAFKA_BROKERS: lost.brokers.join(','), TAILRACE_SECRET_KEY: oldKey };
    await succeeds(['topics', 'apply'], env);
    const nothing = await tailrace(['config', 'export', '-f', file], env);
    assert.equal(nothing.exitCode, 1, nothing.stdout);
    assert.match(nothing.stderr, /has no sources and destinations, and nothing was exported/);
    await succeeds(['apply', '-f', '-'], env, JSON.stringify(configuration));
    assert.match(
      await succeeds(['config', 'export', '-f', file], env),
      /^1 source and 1 destination exported/,
    );
  }
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.doesNotMatch(readFileSync(file, 'utf8'), /known-to-the-receiver|wk_restored/);

  await using empty = await ownBroker();
  const keys = { TAILRACE_SECRET_KEY: newKey };
  await using pipeline = await startPipelineOfProcesses({ brokers: empty.brokers, env: keys });
  const env = {
    KAFKA_BROKERS: empty.brokers.join(','),
    TAILRACE_TOPIC_PREFIX: pipeline.names.config.replace(/config$/, ''),
    ...keys,
  };
  const withoutKey = await tailrace(['config', 'import', file], env);
  assert.equal(withoutKey.exitCode, 1);
  assert.match(withoutKey.stderr, /sealed with the secret key [0-9a-f]{8}/);
  const damaged = path.join(folder.path, 'damaged.export');
  writeFileSync(damaged, readFileSync(file, 'utf8').slice(0, -40));
  const previous = { TAILRACE_SECRET_KEY_PREVIOUS: oldKey };
  const incomplete = await tailrace(['config', 'import', damaged], { ...env, ...previous });
  assert.match(incomplete.stderr, /The export is incomplete: it has \d+ of \d+ bytes/);

  assert.match(
    await succeeds(['config', 'verify', file], { ...keys, ...previous }),
    /^source\/web\ndestination\/crm\nThe export is complete/m,
  );
  assert.match(
    await succeeds(['config', 'import', file, '--dry-run'], { ...env, ...previous }),
    /Dry run, nothing was written: 2 created\./,
  );
  assert.match(await succeeds(['config', 'import', file], { ...env, ...previous }), /^2 created\.$/m);
  const again = await tailrace(['config', 'import', file], { ...env, ...previous });
  assert.equal(again.exitCode, 1);
  assert.match(again.stderr, /is not empty \(sources: 1, destinations: 1\)/);

  const answer = await fetch(`${pipeline.ingestUrl}/v1/track`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('wk_restored:')}` },
    body: JSON.stringify({ userId: 'ada', event: 'Order Completed', messageId: 'after-the-loss' }),
  });
  assert.equal(answer.status, 200);
  const request = await receiver.find(() => true);
  assert.ok(verifySignature(sharedSecret, request.body, request.headers['x-signature']));
  assert.equal(request.headers['authorization'], token);
});

async function succeeds(
  args: readonly string[],
  env: Record<string, string>,
  input?: string,
): Promise<string> {
  const { exitCode, stdout, stderr } = await tailrace(args, { NO_COLOR: '1', ...env }, input);
  assert.equal(exitCode, 0, `tailrace ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}
