/** A whole life cycle with the command line only: create, deliver, look up, block, delete. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { adminToken, secretKey, startControl } from '../support/processes/control.ts';
import { startTailrace, tailrace, type Run } from '../support/processes/cli.ts';
import { eventually } from '../support/kafka/kafka-client.ts';
import { startPipeline } from '../support/processes/pipeline.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { sharedBroker } from '../support/kafka/broker.ts';

const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
const pipeline = started.use(await startPipeline({ env: { TAILRACE_SECRET_KEY: secretKey } }));
const receiver = started.use(await startReceiver());
const { brokers } = await sharedBroker();
const prefix = pipeline.names.events.replace(/events$/, '');
const topics = { TAILRACE_PARTITIONS: '2', TAILRACE_RETRY_SCHEDULE: '1s,1s,2s,10s' };
const control = started.use(await startControl(brokers, prefix, topics));

const env = {
  KAFKA_BROKERS: brokers.join(','),
  TAILRACE_TOPIC_PREFIX: prefix,
  ...topics,
  TAILRACE_URL: control.url,
  TAILRACE_API_TOKEN: adminToken,
  CRM_SECRET: 's3cret',
  NO_COLOR: '1',
};

/** Commands start in a second; on a busy machine they take much longer. */
const patienceMs = 60_000;

async function run(args: readonly string[], input?: string): Promise<string> {
  const { exitCode, stdout, stderr } = await tailrace(args, env, input);
  assert.deepEqual([exitCode, stderr], [0, ''], `tailrace ${args.join(' ')}: ${stdout}`);
  return stdout;
}

async function json(...args: string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await run([...args, '--output', 'json'])) as Record<string, unknown>;
}

/** Repeats a command until its output matches. */
function untilShown(args: readonly string[], expected: RegExp): Promise<string> {
  return eventually(
    () => run(args),
    (shown) => expected.test(shown),
    patienceMs,
  );
}

/** Sends a track call, and repeats it until ingest knows the write key. */
async function track(messageId: string, userId: string, event: string): Promise<void> {
  const status = await eventually(
    async () => {
      const response = await fetch(`${pipeline.ingestUrl}/v1/track`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa('wk_walk:')}` },
        body: JSON.stringify({ messageId, userId, event }),
      });
      return response.status;
    },
    (answered) => answered === 200,
    patienceMs,
  );
  assert.equal(status, 200);
}

test('the command line covers the life cycle of a source and a destination', async (t) => {
  await t.test('a source and a destination are created, connected and switched on', async () => {
    assert.match(await run(['get', 'catalog']), /^Webhooks /m);
    const created = await run(['create', 'source', '--id', 'web', '--write-key', 'wk_walk']);
    assert.equal(created, 'The source web is created.\nWrite key: wk_walk\n');
    const destination = ['create', 'destination', '--id', 'crm', '--disabled', '--url', receiver.url];
    const secrets = ['--secret', 'env:CRM_SECRET', '--secret-header', 'X-Token: env:CRM_SECRET'];
    assert.match(await run([...destination, ...secrets]), /crm is created, and switched off/);
    assert.match(await run(['test', 'crm', '--type', 'page']), /"type": ?"page"[^]*\b200\b/);
    assert.equal(await run(['connect', 'crm', 'web']), 'crm gets the events of web.\n');
    assert.equal(await run(['enable', 'destination', 'crm']), 'The destination crm is switched on.\n');
    const shown = await run(['get', 'destination', 'crm']);
    assert.match(shown, /enabled: true/);
    assert.ok(!shown.includes('s3cret'), shown);
    assert.match(await run(['get', 'sources']), /^web .* on .* wk_walk .*\n1 source\.$/m);
  });

  await t.test('a call is delivered, and can be looked up', async () => {
    const tail = startTailrace(['tail', '--destination', 'crm', '--count', '1'], env);
    let ended: Run | undefined;
    void tail.ended.then((how) => (ended = how));
    // A tail shows only attempts after its start, which is not observable: send calls until it shows one.
    await eventually(
      async () => {
        await track(`m-${performance.now()}`, 'ada', 'Order Completed');
        return ended;
      },
      (how) => how !== undefined,
      patienceMs,
    );
    const { exitCode, stdout } = await tail.ended;
    assert.equal(exitCode, 0);
    assert.match(stdout, /^\S+Z {2}delivered {2} *web → crm {2}track .*200.*\n$/);

    await track('m-1', 'grace', 'Order Completed');
    const listed = await untilShown(['get', 'deliveries', '--user', 'grace'], /delivered/);
    assert.match(listed, /delivered .*crm .*track .*Order Completed .*grace/);
    const why = await run(['why', 'm-1']);
    assert.match(why, /^It was routed to one destination\.\ncrm: delivered at \S+Z, with attempt 1\.$/m);
    const { items } = (await json('get', 'deliveries', '--user', 'grace')) as {
      items: { deliveryId: string }[];
    };
    const delivery = await run(['get', 'delivery', items[0]?.deliveryId ?? '', '--body']);
    assert.match(delivery, /attempt 1 {2}delivered\n.* 200 /);
    assert.match(delivery, /"event": "Order Completed"/);
  });

  await t.test('a blocked event goes nowhere', async () => {
    assert.equal(await run(['block', 'web', 'Debug Event']), '“Debug Event” of web is blocked.\n');
    await eventually(
      async () => {
        await track(`d-${performance.now()}`, 'ada', 'Debug Event');
        return run(['get', 'events', 'web']);
      },
      (shown) => /Debug Event +[1-9]\d* +[1-9]/.test(shown),
      patienceMs,
    );
    assert.equal(
      await run(['unblock', 'web', 'Debug Event']),
      '“Debug Event” of web is no longer blocked.\n',
    );
    assert.match(await run(['get', 'usage', 'web']), /track \d+/);
  });

  await t.test('a user is deleted at the receiver', async () => {
    const deleted = await run(['user', 'delete', 'ada', '--wait']);
    assert.match(deleted, /^web +crm +1 +1 +0 +0$/m);
    const request = await receiver.find(({ json }) => (json() as { type?: string }).type === 'delete');
    assert.equal((request.json() as { userId?: string }).userId, 'ada');
  });

  await t.test('an audience is synced twice, and only changes arrive', async () => {
    const sync = ['audience', 'sync', 'web', 'Big Spenders', '-', '--format', 'ndjson'];
    assert.equal(await run(sync, '"ada"\n{"userId":"grace"}\n'), '2 members: 2 joined, 0 left, 2 sent.\n');
    assert.equal(await run(sync, '"grace"\n"mary"\n'), '2 members: 1 joined, 1 left, 2 sent.\n');
    assert.match(await run(['audience', 'list']), /^web +Big Spenders +2 +done +1 +1$/m);
    const sent = await eventually(
      () =>
        Promise.resolve(
          receiver.requests.flatMap(({ json }) => {
            const { type, userId, traits } = json() as {
              type: string;
              userId: string;
              traits?: { big_spenders?: boolean };
            };
            return type === 'identify' ? [`${userId} ${String(traits?.big_spenders)}`] : [];
          }),
        ),
      (found) => found.length >= 4,
      patienceMs,
    );
    assert.deepEqual(sent.sort(), ['ada false', 'ada true', 'grace true', 'mary true']);
  });

  await t.test('it is switched off and deleted', async () => {
    assert.equal(await run(['disable', 'destination', 'crm']), 'The destination crm is switched off.\n');
    assert.match(await run(['get', 'destinations']), /^crm .* off /m);
    const refused = await tailrace(['delete', 'source', 'web'], env);
    assert.equal(refused.exitCode, 1);
    assert.equal(await run(['delete', 'destination', 'crm']), 'The destination crm is deleted.\n');
    assert.equal(await run(['delete', 'source', 'web']), 'The source web is deleted.\n');
  });
});

test('an error of the service is shown with its message and exit code 1', async () => {
  const missing = await tailrace(['get', 'source', 'unknown'], env);
  assert.deepEqual([missing.exitCode, missing.stdout], [1, '']);
  assert.match(missing.stderr, /^tailrace: .*unknown/);
  const unknown = await tailrace(['get', 'sources'], {
    ...env,
    TAILRACE_API_TOKEN: 'not-a-token-of-this-service',
  });
  assert.equal(unknown.exitCode, 1);
  assert.match(unknown.stderr, /does not know this token. Set TAILRACE_API_TOKEN/);
  const other = await tailrace(['get', 'sources'], { ...env, TAILRACE_URL: receiver.url });
  assert.match(other.stderr, /is not a control service. Set TAILRACE_URL/);
  const invalid = await tailrace(['create', 'destination', '--url', 'ftp://example.com'], env);
  assert.equal(invalid.exitCode, 1);
  assert.match(invalid.stderr, /settings\.webhooks\[0\]\.url/);
});

test('doctor reports no failure on a healthy system, and a hint for every problem', async () => {
  const places = ['--ingest', pipeline.ingestUrl, '--probe', control.probesUrl];
  const key = { TAILRACE_SECRET_KEY: secretKey };
  const healthy = await tailrace(['doctor', ...places], { ...env, ...key });
  assert.deepEqual([healthy.exitCode, healthy.stderr], [0, ''], healthy.stdout);
  assert.match(healthy.stdout, /^ok +brokers +\d+ brokers?, all reachable$/m);
  assert.match(healthy.stdout, /^ok +router +1 member in its consumer group/m);
  // The tests have one broker.
  assert.match(healthy.stdout, /^warn +durability +there is one broker.*sufficient for evaluation only\.$/m);
  assert.match(healthy.stdout, /^No failures, 1 warning\.$/m);

  const elsewhere = { TAILRACE_RETRY_SCHEDULE: '1s,7s', TAILRACE_API_TOKEN: '', TAILRACE_URL: receiver.url };
  const unhealthy = await tailrace(['doctor', ...places, '--output', 'json'], {
    ...env,
    ...key,
    ...elsewhere,
  });
  assert.equal(unhealthy.exitCode, 1);
  const { findings } = JSON.parse(unhealthy.stdout) as {
    findings: { level: string; about: string; hint?: string }[];
  };
  const wrong = findings.filter(({ level }) => level !== 'ok');
  assert.deepEqual(
    wrong.map(({ level, about }) => `${level} ${about}`),
    ['fail topics', 'warn topics', 'warn durability', 'warn control'],
  );
  assert.ok(wrong.every(({ hint }) => hint !== undefined));
});

test('a dry run of apply shows values before and after, and no secrets', async () => {
  const key = { ...env, TAILRACE_SECRET_KEY: secretKey };
  const file = (enabled: boolean, secret: string): string =>
    JSON.stringify({
      sources: [{ id: 'shop', writeKeys: ['wk_shop'] }],
      destinations: [
        {
          ...{ id: 'erp', type: 'Webhooks', enabled, sources: ['shop'] },
          settings: { sharedSecret: secret, webhooks: [{ url: 'https://erp.example.com/hook' }] },
        },
      ],
    });
  assert.equal((await tailrace(['apply', '-f', '-'], key, file(true, 'S3CRET'))).exitCode, 0);
  const { stdout, stderr } = await tailrace(['apply', '-f', '-', '--dry-run'], key, file(false, 'S3CRET2'));
  assert.equal(stderr, '');
  assert.match(
    stdout,
    /^updated +destination\/erp\n +enabled: true → false\n +settings\.sharedSecret: changes, and is not shown$/m,
  );
  assert.ok(!stdout.includes('S3CRET'), stdout);
});
