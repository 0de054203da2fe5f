/**
 * The whole pipeline with each kind of authentication. Sessions last for some seconds only, so that every connection has to
 * authenticate again while it is used.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { permissions } from '@tailrace/topology';
import { passwordOf, startSecureBroker, type SecureBroker } from '../../support/kafka/secure-broker.ts';
import { startTokenServer, type TokenServer } from '../../support/kafka/token-server.ts';
import { tailrace } from '../../support/processes/cli.ts';
import { startService, type Environment, type ServiceProcess } from '../../support/processes/process.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { closedPort } from '../../support/receivers/closed-port.ts';

const user = 'tailrace';
const sessionMs = 3_000;
const tokenLifetimeS = 12;

const opened = new AsyncDisposableStack();
let tokens: TokenServer;
let broker: SecureBroker;

before(async () => {
  tokens = opened.use(
    await startTokenServer({ clients: { [user]: passwordOf(user) }, lifetimeS: tokenLifetimeS }),
  );
  broker = opened.use(await startSecureBroker({ users: [user], tokens, reauthenticateMs: sessionMs }));
});
after(() => opened.disposeAsync());

interface Pipeline extends AsyncDisposable {
  readonly services: readonly ServiceProcess[];
  /** Sends calls for a time, and resolves with the ids of those that were accepted. */
  send(forMs: number): Promise<string[]>;
  /** Resolves when all have been delivered. */
  delivered(ids: readonly string[]): Promise<void>;
}

async function startPipeline(prefix: string, kafka: Environment): Promise<Pipeline> {
  for (const { resources } of permissions) await broker.grant(user, resources, prefix);
  const env: Environment = {
    ...kafka,
    TAILRACE_TOPIC_PREFIX: prefix,
    TAILRACE_PARTITIONS: '2',
    TAILRACE_METRICS_PORT: '0',
    TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
  };
  await using started = new AsyncDisposableStack();
  const receiver = started.use(await startReceiver());
  const run = async (args: readonly string[], input?: string): Promise<void> => {
    const { exitCode, stderr } = await tailrace(args, env, input);
    assert.equal(exitCode, 0, stderr);
  };
  await run(['topics', 'apply']);
  const settings = { webhooks: [{ url: receiver.url }] };
  await run(
    ['apply', '-f', '-'],
    JSON.stringify({
      sources: [{ id: 'web', writeKeys: ['wk_web'] }],
      destinations: [{ id: 'crm', type: 'Webhooks', sources: ['web'], settings }],
    }),
  );
  const port = String(await closedPort());
  const services = await Promise.all([
    startService('router', env),
    startService('delivery', env),
    startService('ingest', { ...env, TAILRACE_INGEST_PORT: port }),
  ]);
  for (const service of services) started.use(service);
  const all = started.move();
  let sent = 0;
  return {
    services,
    async send(forMs) {
      const until = Date.now() + forMs;
      const accepted: string[] = [];
      await eventually(async () => {
        const messageId = `m-${++sent}`;
        const response = await fetch(`http://127.0.0.1:${port}/v1/track`, {
          method: 'POST',
          headers: { authorization: `Basic ${btoa('wk_web:')}` },
          body: JSON.stringify({
            userId: `u-${sent % 20}`,
            event: 'Ordered',
            messageId,
            properties: { messageId },
          }),
        });
        await response.text();
        if (response.status === 200) accepted.push(messageId);
        return Date.now() >= until;
      });
      return accepted;
    },
    async delivered(ids) {
      const arrived = (): Set<string> =>
        new Set(
          receiver.requests.map(
            (request) => (request.json() as { properties: { messageId: string } }).properties.messageId,
          ),
        );
      await receiver.waitFor(() => {
        const now = arrived();
        return ids.every((id) => now.has(id));
      });
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Warnings and errors of all services that are about Kafka. */
function troubles({ services }: Pipeline): string[] {
  return services.flatMap(({ name, log }) =>
    log.items
      .filter(({ level }) => level === 'warn' || level === 'error' || Number(level) >= 40)
      .map(({ msg, err }) => `${name}: ${String(msg)} ${JSON.stringify(err)}`),
  );
}

const kinds: readonly [kind: string, environment: () => Environment][] = [
  ['a SCRAM password', () => broker.environment(user)],
  ['a PLAIN password', () => broker.environment(user, 'plain')],
  ['a client certificate', () => broker.certificateEnvironment()],
  ['a token', () => broker.tokenEnvironment(user, tokens.tokenUrl)],
];

for (const [index, [kind, environment]] of kinds.entries()) {
  test(`the pipeline works with ${kind}, through many sessions and without a failure`, async () => {
    await using pipeline = await startPipeline(`auth-${index}.`, environment());
    const ids = await pipeline.send(4 * sessionMs);
    assert.ok(ids.length > 20, `${ids.length} accepted`);
    await pipeline.delivered(ids);
    assert.deepEqual(troubles(pipeline), []);
  });
}

test('a token server that hangs affects nothing while tokens are valid, and everything continues when it recovers', async () => {
  await using pipeline = await startPipeline('outage.', broker.tokenEnvironment(user, tokens.tokenUrl));
  tokens.behave('hangs');
  const during = await pipeline.send(2_000);
  assert.ok(during.length > 3, `${during.length} accepted`);
  await pipeline.delivered(during);
  // Until the last token has expired: calls are refused, and no service ends.
  await pipeline.send(tokenLifetimeS * 1_000 + 4_000);
  const reasons = troubles(pipeline).join('\n');
  assert.match(reasons, /fetching a token failed, retrying .*did not answer within 5000 ms/);
  tokens.behave('issues');
  const accepted: string[] = [];
  for (let tries = 0; accepted.length < 20 && tries < 40; tries += 1)
    accepted.push(...(await pipeline.send(1_000)));
  assert.ok(accepted.length >= 20, `${accepted.length} accepted after the outage`);
  await pipeline.delivered(accepted);
});
