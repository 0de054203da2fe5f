/** A whole life cycle with the command line only: create, deliver, look up, block, delete. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { verifySignature } from '@tailrace/signing';
import { eventually } from '@tailrace/testing';
import { adminToken } from '../../services/control/src/testing/api.ts';
import { problemsOf, tailrace as runTailrace, type Run } from '../support/processes/cli.ts';
import { startInstallation } from '../support/processes/installation.ts';
import type { Environment } from '../support/processes/process.ts';
import { status } from '../support/receivers/answers.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
const receiver = started.use(await startReceiver());
const cluster = new MemoryCluster();
// Each request of a command is answered by the other instance.
const installation = started.use(await startInstallation({ cluster, controls: 2 }));

const env = {
  ...installation.env,
  TAILRACE_URL: installation.controlUrl,
  TAILRACE_API_TOKEN: adminToken,
  CRM_SECRET: 's3cret',
};

function tailrace(args: readonly string[], env: Environment, input = ''): Promise<Run> {
  return runTailrace(args, env, input, cluster);
}

async function run(args: readonly string[], input?: string, url = installation.controlUrl): Promise<string> {
  const ended = await tailrace(args, { ...env, TAILRACE_URL: url }, input);
  const { exitCode, stdout } = ended;
  assert.deepEqual([exitCode, problemsOf(ended)], [0, ''], `tailrace ${args.join(' ')}: ${stdout}`);
  return stdout;
}

async function json(...args: string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await run([...args, '--output', 'json'])) as Record<string, unknown>;
}

/** Repeats a command until its output matches with each instance: the next command may be answered by any of them. */
async function untilShown(args: readonly string[], expected: RegExp): Promise<string> {
  let last = '';
  for (const { url } of installation.controls) {
    last = await eventually(
      () => run(args, '', url),
      (shown) => expected.test(shown),
    );
  }
  return last;
}

/** The ids of the orders that were accepted. */
const orders = new Set<string>();

/** Sends a track call, and repeats it until ingest knows the write key. */
async function track(messageId: string, userId: string, event: string, writeKey = 'wk_walk'): Promise<void> {
  const status = await eventually(
    async () => {
      const response = await fetch(`${installation.ingestUrl}/v1/track`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${writeKey}:`)}` },
        body: JSON.stringify({ messageId, userId, event, properties: { orderId: messageId } }),
      });
      return response.status;
    },
    (answered) => answered === 200,
  );
  assert.equal(status, 200);
  if (event === 'Order Completed') orders.add(messageId);
}

test('the command line covers the life cycle of a source and a destination', async (t) => {
  await t.test('a source and a destination are created, connected and enabled', async () => {
    assert.match(await run(['get', 'catalog']), /^Webhooks /m);
    const created = await run(['create', 'source', '--id', 'web', '--write-key', 'wk_walk']);
    assert.equal(created, 'The source web is created.\nWrite key: wk_walk\n');
    const destination = ['create', 'destination', '--id', 'crm', '--disabled', '--url', receiver.url];
    const secrets = ['--secret', 'env:CRM_SECRET', '--secret-header', 'X-Token: env:CRM_SECRET'];
    assert.match(await run([...destination, ...secrets]), /crm is created and disabled/);
    assert.match(await run(['test', 'crm', '--type', 'page']), /"type": ?"page"[^]*\b200\b/);
    const call = '{"type":"screen","userId":"ada","properties":{"visits":12345678901234567890}}';
    assert.match(await run(['test', 'crm', '--call', '-'], call), /12345678901234567890[^]*\b200\b/);
    const both = await tailrace(['test', 'crm', '--call', '-', '--type', 'page'], env);
    assert.deepEqual([both.exitCode, both.stderr.includes('exclude each other')], [2, true]);
    assert.equal(await run(['connect', 'crm', 'web']), 'crm gets the events of web.\n');
    assert.equal(
      await run(['enable', 'destination', 'crm']),
      'The destination crm is enabled.\nTo send the last 7 days: tailrace replay events --destination crm --source web --from 7d\n',
    );
    const hook = ['create', 'notification', '--id', 'hook', '--set', `webhook.url=${receiver.url}`];
    assert.match(await run(hook), /hook is created/);
    assert.equal(await run(['test-notification', 'hook']), 'The test message is accepted.\n');
    assert.match(await run(['delete', 'notification', 'hook', '--yes']), /deleted/);
    const shown = await run(['get', 'destination', 'crm']);
    assert.match(shown, /enabled: true/);
    assert.ok(!shown.includes('s3cret'), shown);
    assert.match(await run(['get', 'sources']), /^web .* enabled .* wk_walk .*\n2 sources\.$/m);
  });

  await t.test('a call is delivered, and can be looked up', async () => {
    const tail = tailrace(['tail', '--destination', 'crm', '--count', '1'], env);
    const calls = tailrace(['calls', 'web', '--event', 'Order Completed', '--count', '20'], env);
    await using local = await startReceiver();
    const url = `${local.url}/hook?of=me`;
    const forward = ['--forward', url, '--header', 'X-Api-Key: env:CRM_SECRET', '--count', '1'];
    const listen = tailrace(['listen', '--destination', 'crm', '--user', 'ada', ...forward], env);
    let ended: readonly Run[] | undefined;
    void Promise.all([tail, calls, listen]).then((how) => (ended = how));
    // They show only what is after their start, which is not observable: send calls until they have.
    await eventually(
      async () => {
        await track(randomUUID(), 'ada', 'Order Completed');
        return ended;
      },
      (how) => how !== undefined,
    );
    const { exitCode, stdout } = await tail;
    assert.equal(exitCode, 0);
    assert.match(stdout, /^\S+Z {2}delivered {2} *web → crm {2}track .*200.*\n$/);
    const shown = await calls;
    assert.deepEqual([shown.exitCode, problemsOf(shown)], [0, '']);
    assert.match(shown.stdout, /^\S+Z {2}routed +track Order Completed {2}ada {2}\S+ {2}→ crm$/m);
    const forwarded = await listen;
    const [copy] = local.requests;
    assert.ok(copy && verifySignature('s3cret', copy.body, copy.headers['x-signature'] ?? ''));
    assert.deepEqual([copy.path, copy.headers['x-api-key']], ['/hook?of=me', 's3cret']);
    assert.equal(copy.headers['x-token'], undefined, 'it is of the real receiver');
    assert.match(forwarded.stdout, /^\S+Z {2}200 {2}track Order Completed {2}ada {2}\d+ ms\n$/);
    assert.deepEqual(
      [forwarded.exitCode, forwarded.stderr],
      [0, `tailrace: Forwarding the deliveries of crm to ${local.url}/hook. Press Ctrl-C to end.\n`],
    );
    // The destination gets it too.
    const sent = await receiver.find(({ body }) => body.equals(copy.body));
    assert.equal(sent.headers['x-signature'], copy.headers['x-signature']);

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

  await t.test('a receiver that has lost its data is sent everything again with one command', async () => {
    const { length: before } = receiver.requests;
    const replay = ['replay', 'events', '--destination', 'crm', '--from', '1d', '--mode', 'all'];
    assert.match(await run([...replay, '--wait']), /replayed|sent/);
    // Also what was accepted before the router knew that the destination is enabled.
    await eventually(() => {
      const received = receiver.requests.slice(before).map(({ body }) => body.toString());
      return [...orders].every((orderId) => received.some((body) => body.includes(orderId)));
    });
    const why = await untilShown(['why', 'm-1'], /delivered[^]*sent again[^]*delivered/);
    assert.match(
      why,
      /^It was routed to one destination\.\ncrm: delivered at \S+Z, with attempt 1\.\ncrm, sent again at \S+Z by \S+: delivered at \S+Z, with attempt 1\.$/m,
    );
  });

  await t.test('a transform is run on a past event, and why says what it has done', async () => {
    const test = ['test', 'crm', '--transform', '-', '--event', 'm-1'];
    assert.match(await run(test, '({ event }) => ({ event })'), /"event": "Order Completed"\n\}/);
    const failed = await tailrace(test, env, '(event) =>\n  event.a.b');
    assert.equal(failed.exitCode, 1);
    assert.match(failed.stdout, /failed in line 2: TypeError[^]*\n> +2 \| {3}event\.a\.b\n/);

    const code = "({ event }) => {\n  if (event === 'Left') return null;\n  return event.a.b;\n}";
    await run(['update', 'destination', 'crm', '--set', `transform.code=${code}`]);
    /** Sends events until one was routed with the transform. */
    const untilWhy = (event: string, expected: RegExp): Promise<string> =>
      eventually(
        async () => {
          const id = randomUUID();
          await track(id, 'linus', event);
          return untilShown(['why', id], /crm/);
        },
        (shown) => expected.test(shown),
      );
    await untilWhy('Left', /filtered it for crm: its transform of version 1 returned null\./);
    await untilWhy('Came', /Transform of version 1: TypeError.*line 3[^]*To do: fix its transform/);
    await run(['update', 'destination', 'crm', '--unset', 'transform']);
    await untilWhy('Came', /delivered/);
  });

  await t.test('a blocked event goes nowhere', async () => {
    assert.equal(await run(['block', 'web', 'Debug Event']), '“Debug Event” of web is blocked.\n');
    await eventually(
      async () => {
        await track(randomUUID(), 'ada', 'Debug Event');
        return run(['get', 'events', 'web']);
      },
      (shown) => /Debug Event +[1-9]\d* +[1-9]/.test(shown),
    );
    await untilShown(['get', 'decisions', '--reason', 'schema'], /schema .*crm .*web .*Debug Event/);
    assert.equal(
      await run(['unblock', 'web', 'Debug Event']),
      '“Debug Event” of web is no longer blocked.\n',
    );
    // Clients resolve such a name in a path.
    await run(['block', 'web', '..']);
    assert.equal(await run(['unblock', 'web', '..']), '“..” of web is no longer blocked.\n');
    await untilShown(['get', 'usage', 'web'], /track \d+/);
  });

  await t.test('a paused destination gets its deliveries when it is resumed', async () => {
    assert.match(await run(['pause', 'destination', 'crm']), /^The destination crm is paused\./);
    assert.match(await run(['get', 'destinations']), /^crm .* paused /m);
    // Delivery knows of the pause when a delivery waits because of it.
    let nth = 0;
    const waiting = await eventually(
      async () => {
        nth += 1;
        await track(`p-${nth}`, 'heidi', 'Paused');
        return run(['get', 'deliveries', '--user', 'heidi', '--status', 'waiting']);
      },
      (shown) => / waiting +paused /.test(shown),
    );
    assert.match(waiting, /waiting +paused +crm/);
    await untilShown(['why', `p-${nth}`], /crm: it waits because the destination is paused/);
    assert.match(await run(['resume', 'destination', 'crm']), /^The destination crm is resumed\./);
    await untilShown(['why', `p-${nth}`], /crm: delivered/);
    await untilShown(['get', 'recall', 'crm'], /brought forward/);
  });

  await t.test('its fields are changed, its secret is rotated, and its attempts are counted', async () => {
    const update = ['update', 'destination', 'crm', '--name', 'CRM', '--rate-limit', '500'];
    assert.equal(await run(update), 'The destination crm is updated.\n');
    const editor = { EDITOR: "sed -i 's/^name: CRM$/name: Edited/'" };
    const edited = await tailrace(['edit', 'destination', 'crm'], { ...env, ...editor });
    assert.deepEqual([edited.exitCode, edited.stdout], [0, 'The destination crm is updated.\n']);
    const shown = await json('get', 'destination', 'crm');
    assert.partialDeepStrictEqual(shown, { name: 'Edited', rateLimit: 500 });
    assert.equal(await run(['update', 'source', 'web', '--name', 'Website']), 'The source web is updated.\n');
    assert.match(
      await run(['rotate', 'secret', 'crm']),
      /^New secret: [0-9a-f]{64}\nIt is not shown again\.\nThe previous secret still signs until \S+Z/,
    );
    const again = await tailrace(['rotate', 'secret', 'crm'], env);
    assert.deepEqual([again.exitCode, again.stderr.includes('still in use until')], [1, true]);
    await untilShown(['get', 'stats', 'crm'], /^total +[1-9]\d* +[1-9]/m);
    assert.match(await run(['get', 'failures', 'crm']), /^\d+ reasons?\.$/m);
  });

  await t.test('a user is deleted at the receiver', async () => {
    const deleted = await run(['user', 'delete', 'ada', '--wait']);
    assert.match(deleted, /^web +crm +1 +1 +0 +0$/m);
    const request = await receiver.find(({ json }) => (json() as { type?: string }).type === 'delete');
    assert.equal((request.json() as { userId?: string }).userId, 'ada');
  });

  await t.test('an audience is synced and changed, and its members are sent to one destination', async () => {
    const sync = ['audience', 'sync', 'web', 'Big Spenders', '-', '--format', 'ndjson'];
    assert.equal(await run(sync, '"ada"\n{"userId":"grace"}\n'), '2 members: 2 joined, 0 left, 2 sent.\n');
    assert.equal(await run(sync, '"grace"\n"mary"\n'), '2 members: 1 joined, 1 left, 2 sent.\n');
    assert.match(await run(['audience', 'list']), /^web +Big Spenders +2 +done +1 +1$/m);
    const change = [...sync, '--changes'];
    assert.equal(await run(change, '{"added":["joan"]}\n'), '1 user: 1 joined, 0 left, 1 sent.\n');
    assert.equal(await run(change, '{"removed":["joan"]}\n'), '1 user: 0 joined, 1 left, 1 sent.\n');
    const send = ['audience', 'sync', 'web', 'Big Spenders', '--destination', 'crm'];
    assert.equal(await run(send), '2 members sent to crm.\n');
    const both = await tailrace([...send, 'members.csv'], env);
    assert.deepEqual([both.exitCode, both.stderr.includes('give no file')], [2, true]);
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
      (found) => found.length >= 8,
    );
    assert.deepEqual(sent.sort(), [
      'ada false',
      'ada true',
      'grace true',
      'grace true',
      'joan false',
      'joan true',
      'mary true',
      'mary true',
    ]);
    await untilShown(
      ['get', 'deliveries', '--user', 'mary'],
      /delivered [^\n]*identify[^]*delivered [^\n]*identify/,
    );
    const { items } = (await json('get', 'deliveries', '--user', 'mary')) as {
      items: { eventId: string }[];
    };
    assert.match(await run(['why', items[0]?.eventId ?? '']), /^crm: delivered at \S+Z, with attempt 1\.$/m);
  });

  await t.test('it is disabled and deleted', async () => {
    assert.equal(await run(['disable', 'destination', 'crm']), 'The destination crm is disabled.\n');
    assert.match(await run(['get', 'destinations']), /^crm .* disabled /m);
    const refused = await tailrace(['delete', 'source', 'web'], env);
    assert.equal(refused.exitCode, 1);
    assert.equal(await run(['delete', 'destination', 'crm']), 'The destination crm is deleted.\n');
    assert.equal(await run(['delete', 'source', 'web']), 'The source web is deleted.\n');
  });
});

test('the command line has the verbs of operators', async (t) => {
  let isAccepting = true;
  await using erp = await startReceiver({ answer: () => status(isAccepting ? 200 : 400) });
  await run(['create', 'source', '--id', 'verbs', '--write-key', 'wk_verbs']);
  const options = ['--url', erp.url, '--source', 'verbs', '--secret', 'env:CRM_SECRET'];
  await run(['create', 'destination', '--id', 'erp', ...options]);
  const receivedOf = (event: string): number =>
    erp.requests.filter(({ json }) => (json() as { event?: string }).event === event).length;

  await t.test('a destination is paused and resumed, and its secret is rotated', async () => {
    assert.match(await run(['pause', 'destination', 'erp']), /^The destination erp is paused\./);
    assert.match(await run(['get', 'destination', 'erp']), /paused: true/);
    assert.match(await run(['resume', 'destination', 'erp']), /^The destination erp is resumed\./);
    assert.doesNotMatch(await run(['get', 'destination', 'erp']), /paused: true/);
    const rotated = await json('rotate', 'secret', 'erp');
    assert.ok(typeof rotated['sharedSecret'] === 'string' && rotated['sharedSecret'] !== 's3cret');
    assert.match(await run(['get', 'destination', 'erp']), /previousSharedSecretUntil: /);
  });

  await t.test('a filter is set and tried', async () => {
    await run(['update', 'destination', 'erp', '--set', 'filter.events.include=["Order *"]']);
    const tried = await tailrace(['test', 'erp', '--filter'], env);
    assert.deepEqual([tried.exitCode, tried.stderr], [1, '']);
    await run(['update', 'destination', 'erp', '--unset', 'filter']);
    assert.doesNotMatch(await run(['get', 'destination', 'erp']), /filter:/);
  });

  await t.test('a token is created, used and revoked, and the audit log names it', async () => {
    const created = await json('create', 'token', '--name', 'dashboard', '--expires', '1h');
    const own = { ...env, TAILRACE_API_TOKEN: String(created['token']) };
    assert.equal((await tailrace(['get', 'sources'], own)).exitCode, 0);
    assert.equal((await tailrace(['pause', 'destination', 'erp'], own)).exitCode, 1);
    assert.match(await run(['get', 'tokens']), / dashboard /);
    await run(['revoke', 'token', 'dashboard', '--yes']);
    assert.equal((await tailrace(['get', 'sources'], own)).exitCode, 1);
    await untilShown(['get', 'audit', '--limit', '200'], /token\.revoke/);
  });

  await t.test('a change is reported to a destination of the built-in source', async () => {
    await run(['connect', 'erp', 'tailrace']);
    let changes = 0;
    // The router knows the connection soon after the command.
    await eventually(
      async () => {
        await run(['update', 'source', 'verbs', '--set', `name=Change ${(changes += 1)}`]);
        return receivedOf('config.changed');
      },
      (count) => count > 0,
    );
    await run(['disconnect', 'erp', 'tailrace']);
  });

  await t.test('a user is suppressed, and no longer', async () => {
    await run(['user', 'suppress', 'mary']);
    assert.match(await run(['get', 'suppressions']), / mary$/m);
    await run(['user', 'unsuppress', 'mary']);
    assert.doesNotMatch(await run(['get', 'suppressions']), / mary$/m);
  });

  await t.test('a deletion is requested and lifted', async () => {
    await run(['user', 'delete', 'mary', '--source', 'verbs', '--request', 'walk-1', '--wait']);
    assert.match(await run(['get', 'deletions']), /walk-1/);
    await run(['user', 'undelete', 'walk-1']);
    assert.match(await run(['get', 'deletion', 'walk-1']), /lifted/i);
  });

  await t.test('a delivery is sent again, and failures are recovered', async () => {
    await track('verbs-1', 'ada', 'Kept', 'wk_verbs');
    const deliveries = ['get', 'deliveries', '--event', 'Kept', '--status', 'delivered'];
    await untilShown(deliveries, /delivered .*erp/);
    const { items } = (await json(...deliveries)) as { items: { deliveryId: string }[] };
    await run(['resend', items[0]?.deliveryId ?? '']);
    await erp.waitFor(() => receivedOf('Kept') === 2);

    isAccepting = false;
    await track('verbs-2', 'ada', 'Failed', 'wk_verbs');
    await untilShown(['get', 'deliveries', '--event', 'Failed'], /dead .*erp/);
    isAccepting = true;
    await run(['recover', 'destination', 'erp', '--since', '1h', '--wait']);
    await erp.waitFor(() => receivedOf('Failed') === 2);
    await untilShown(['get', 'replays'], /done/);
    await run(['delete', 'destination', 'erp', '--yes']);
  });
});

test('doctor sends an event to a receiver of its own and back, and leaves no entry', async () => {
  const entries = (): Promise<string[]> =>
    Promise.all(['sources', 'destinations'].map((kind) => run(['get', kind])));
  const before = await entries();
  const send = async (address: string) => {
    const args = ['doctor', '--event', address, '--ingest', installation.ingestUrl, '--output', 'json'];
    const { stdout } = await tailrace(args, env);
    const { findings } = JSON.parse(stdout) as { findings: { level: string; about: string; says: string }[] };
    return findings.filter(({ about }) => about === 'event').map(({ level, says }) => `${level}: ${says}`);
  };
  const delivered = /^ok: an event was delivered to http:\/\/127\.0\.0\.1:\d+\/ with its signature/;
  assert.match((await send('127.0.0.1')).join('\n'), delivered);
  assert.deepEqual(await entries(), before);

  const deadBefore = await run(['dead', 'list', '--summary']);
  const notAllowed = /^warn: .* through ingest and router, and was not sent, .* http:\/\/0\.0\.0\.0:\d+\/\.$/;
  assert.match((await send('0.0.0.0')).join('\n'), notAllowed);
  assert.equal(await run(['dead', 'list', '--summary']), deadBefore);
  assert.deepEqual(await entries(), before);

  assert.match(
    (await send('192.0.2.1')).join('\n'),
    /^fail: .*nothing can listen at 192\.0\.2\.1: .*EADDRNOTAVAIL/,
  );

  // A killed process has left its source; that of the user stays.
  const create = (name: string) => run(['create', 'source', '--id', 'tailrace-doctor', '--name', name]);
  await create('Mine');
  assert.match((await send('127.0.0.1')).join('\n'), /^fail: .*There is already a source "tailrace-doctor"/);
  await run(['delete', 'source', 'tailrace-doctor']);
  await create('Event of tailrace doctor');
  assert.match((await send('127.0.0.1')).join('\n'), delivered);
  assert.deepEqual(await entries(), before);
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
  assert.equal(invalid.stderr.match(/settings\.webhooks\[0\]\.url/g)?.length, 1, invalid.stderr);
  const unknownSource = ['--url', 'https://example.com', '--source', 'wbe'];
  const misspelled = await tailrace(['create', 'destination', ...unknownSource], env);
  assert.equal(misspelled.stderr.match(/there is no source "wbe"/g)?.length, 1, misspelled.stderr);
});

test('what get writes as YAML can be applied: unchanged with the secrets, and refused without', async () => {
  const apply = ['apply', '-f', '-'];
  const text = JSON.stringify({
    sources: [{ id: 'again', writeKeys: ['wk_again'] }],
    destinations: [
      {
        id: 'back',
        type: 'Webhooks',
        enabled: false,
        sources: ['again'],
        settings: {
          sharedSecret: 'env:BACK_SHARED_SECRET',
          webhooks: [
            {
              url: receiver.url,
              headers: { Authorization: 'literal:env:TOKEN', 'X-Team': 'growth' },
              secretHeaders: ['Authorization'],
            },
          ],
        },
      },
    ],
  });
  const secrets = {
    BACK_SHARED_SECRET: 'S3CRET',
    BACK_WEBHOOKS_1_HEADERS_AUTHORIZATION: 'env:TOKEN',
    BACK_WEBHOOKS_1_HEADERS_X_TEAM: 'growth',
  };
  const applied = await tailrace(apply, { ...env, ...secrets }, text);
  assert.equal(applied.exitCode, 0, applied.stderr);

  const source = await run(['get', 'source', 'again', '-o', 'yaml']);
  assert.match((await tailrace(apply, env, source)).stdout, /^unchanged +source\/again$/m);
  const destination = await run(['get', 'destination', 'back', '-o', 'yaml']);
  const refused = await tailrace(apply, env, destination);
  assert.equal(refused.exitCode, 1);
  assert.match(refused.stderr, /settings\.sharedSecret: .* BACK_SHARED_SECRET, which is not set$/m);
  const unchanged = await tailrace(apply, { ...env, ...secrets }, destination);
  assert.match(unchanged.stdout, /^unchanged +destination\/back$/m, unchanged.stderr);

  // The entry as the API shows it, under the key of a file.
  const masked = JSON.stringify({ destinations: [await json('get', 'destination', 'back')] });
  const overwriting = await tailrace(apply, env, masked);
  assert.equal(overwriting.exitCode, 1);
  assert.match(overwriting.stderr, /destinations\[0\]\.settings\.sharedSecret: has the mask .*env:NAME/);
});

test('a dry run of apply shows values before and after, and no secrets', async () => {
  const file = (enabled: boolean, secret: string): string =>
    JSON.stringify({
      sources: [{ id: 'shop', writeKeys: ['wk_shop'] }],
      destinations: [
        {
          id: 'erp',
          type: 'Webhooks',
          enabled,
          sources: ['shop'],
          settings: { sharedSecret: secret, webhooks: [{ url: 'https://erp.example.com/hook' }] },
        },
      ],
    });
  assert.equal((await tailrace(['apply', '-f', '-'], env, file(true, 'S3CRET'))).exitCode, 0);
  const { stdout, stderr } = await tailrace(['apply', '-f', '-', '--dry-run'], env, file(false, 'S3CRET2'));
  assert.equal(stderr, '');
  assert.match(
    stdout,
    /^updated +destination\/erp\n +enabled: true → false\n +settings\.sharedSecret: changes, and is not shown$/m,
  );
  assert.ok(!stdout.includes('S3CRET'), stdout);
});
