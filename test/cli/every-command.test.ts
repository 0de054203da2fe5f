/** Every command that uses the API, against the API on an in-memory Kafka cluster. The others walk through all services. */
import assert from 'node:assert/strict';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { leafCommands } from '../../packages/cli/src/declare.ts';
import { buildProgram } from '../../packages/cli/src/program.ts';
import { runCli } from '../../packages/cli/src/run.ts';
import { adminToken, names, openApi, type Api } from '../../services/control/src/testing/api.ts';
import { createFlow } from '../../services/control/src/testing/flow.ts';

/** They last until they are interrupted, send requests to receivers, or need services: walk.test.ts has them. */
const elsewhere = ['tail', 'calls', 'listen', 'test', 'test-notification', 'doctor'];

let control: Api;
let url: string;
const called = new Set<string>();
const commands = commandsOfApi();
const folder = mkdtempDisposableSync(path.join(tmpdir(), 'tailrace-cli-'));
const file = (name: string, text: string): string => {
  const at = path.join(folder.path, name);
  writeFileSync(at, text);
  return at;
};

before(async () => {
  control = await openApi();
  url = await control.listen();
});
after(async () => {
  await control[Symbol.asyncDispose]();
  folder.remove();
});

/** The commands whose help names the token of the API. */
function commandsOfApi(): string[] {
  let help = '';
  const writeOut = (text: string): void => {
    help = text;
  };
  const program = buildProgram(() => () => Promise.resolve(), { writeOut });
  const found = leafCommands(program).filter(({ command }) => {
    command.outputHelp();
    return help.includes('  TAILRACE_API_TOKEN ');
  });
  assert.ok(found.length > 50, 'the commands are found');
  return found.map(({ path }) => path).filter((command) => !elsewhere.includes(command));
}

/** Runs a command in text, and asserts that it is done; `expected` is in its output. */
async function run(argv: readonly string[], expected: RegExp): Promise<string> {
  const lines: string[] = [];
  const write = (line: string): void => {
    lines.push(line);
  };
  const env = { TAILRACE_URL: url, TAILRACE_API_TOKEN: adminToken, EDITOR: 'true' };
  const exitCode = await runCli({ argv, env, out: write, err: write });
  const text = lines.join('\n');
  assert.equal(exitCode, 0, `${argv.join(' ')}: ${text}`);
  assert.match(text, expected, argv.join(' '));
  const command = commands.findLast((one) => argv.slice(0, one.split(' ').length).join(' ') === one);
  if (command !== undefined) called.add(command);
  return text;
}

async function runJson<T>(...argv: string[]): Promise<T> {
  return JSON.parse(await run([...argv, '-o', 'json'], /^[[{]/)) as T;
}

test('sources, destinations and tokens are created, read, changed and deleted', async () => {
  await run(['create', 'source', '--id', 'web', '--add-ip'], /web/);
  await run(['get', 'source', 'web'], /addIp: true/);
  const { writeKey } = await runJson<{ writeKey: string }>('create', 'write-key', 'web');
  await run(['delete', 'write-key', 'web', writeKey], /web/);
  await run(['disable', 'source', 'web'], /web/);
  await run(['enable', 'source', 'web'], /web/);
  await run(['update', 'source', 'web', '--name', 'Website'], /updated/);
  await run(['edit', 'source', 'web'], /./);
  await run(['get', 'source', 'web'], /Website/);
  await run(['get', 'sources'], /web/);

  const create = ['create', 'destination', '--id', 'crm', '--url', 'https://crm.example.com/hook'];
  await run([...create, '--secret', 'literal:s3cret'], /crm/);
  await run(['connect', 'crm', 'web'], /web/);
  await run(['disconnect', 'crm', 'web'], /web/);
  await run(['connect', 'crm', 'web'], /web/);
  await run(['disable', 'destination', 'crm'], /crm/);
  await run(['enable', 'destination', 'crm'], /crm/);
  await run(['pause', 'destination', 'crm'], /crm/);
  await run(['resume', 'destination', 'crm'], /crm/);
  await run(['update', 'destination', 'crm', '--rate-limit', '50'], /updated/);
  await run(['edit', 'destination', 'crm'], /./);
  await run(['rotate', 'secret', 'crm'], /[0-9a-f]{64}/);
  await run(['rotate', 'signing-key', 'crm'], /whpk_/);
  await run(['block', 'web', 'Debug'], /Debug/);
  await run(['unblock', 'web', 'Debug'], /Debug/);
  await run(['get', 'destination', 'crm'], /crm\.example\.com/);
  await run(['get', 'destinations'], /crm/);
  await run(['get', 'catalog'], /Webhooks/);

  const notification = ['--set', 'events=["source.silent"]', '--set', 'destination=crm'];
  await run(['create', 'notification', '--id', 'ops', ...notification], /test-notification ops/);
  await run(['update', 'notification', 'ops', '--set', 'silentAfter=6h'], /updated/);
  await run(['edit', 'notification', 'ops'], /./);
  await run(['disable', 'notification', 'ops'], /ops/);
  await run(['enable', 'notification', 'ops'], /ops/);
  await run(['get', 'notification', 'ops'], /silentAfter: 6h/);
  await run(['get', 'notifications'], /ops +- +enabled +source\.silent +crm/);
  await run(['get', 'notification-status'], /ops +quiet/);

  const { id } = await runJson<{ id: string }>('create', 'token', '--name', 'ci', '--scope', 'read');
  await run(['get', 'tokens'], /ci/);
  await run(['revoke', 'token', id], new RegExp(id));
  await run(['get', 'audit'], /token\.create/);
});

test('deliveries, statistics and dead letters are shown, and sent again', async () => {
  const flow = createFlow(control.kafka);
  const [one, failed] = [flow.delivery('crm'), flow.delivery('crm')];
  await flow.publish(names.deliveries, one);
  await flow.attempt(one, 'delivered');
  await flow.publish(names.deliveries, failed);
  await flow.attempt(failed, 'dead', { reason: 'client-error' });
  await flow.publish(names.deliveriesDead, { ...failed, attempt: 1, reason: 'client-error' });
  await flow.usage('web', 5);
  await flow.decision('e-off', [{ reason: 'disabled', destinations: [{ id: 'crm' }] }]);
  await control.historyRead();

  await run(['get', 'deliveries', '--status', 'delivered'], new RegExp(one.deliveryId));
  await run(['get', 'delivery', failed.deliveryId], /client-error/);
  await run(['why', failed.eventId], /client-error/);
  await run(['get', 'decisions', '--reason', 'disabled'], /crm .*Order Completed .*e-off/);
  await run(['get', 'stats', 'crm'], /2/);
  await run(['get', 'failures', 'crm'], /client-error/);
  await run(['get', 'pending', 'crm'], /0 pending deliveries/);
  await run(['get', 'health'], /crm +failing +50 % +2 /);
  await run(['get', 'issues'], new RegExp(`crm +client-error +open .*${failed.deliveryId}`));
  await run(
    ['issue', 'acknowledge', 'crm', 'client-error', '--note', 'Ada asks'],
    /crm client-error: acknowledged/,
  );
  await run(['get', 'issues', '--state', 'acknowledged'], /Ada asks/);
  await run(['issue', 'dismiss', 'crm', 'client-error'], /dismissed/);
  await run(['issue', 'reopen', 'crm', 'client-error'], /open/);
  await run(['get', 'overview'], /delivered/);
  await run(['get', 'usage', 'web'], /track 5/);
  await run(['get', 'events', 'web'], /0 events/);

  await run(['resend', one.deliveryId], new RegExp(one.deliveryId));
  await control.historyRead();
  await run(['get', 'delivery', one.deliveryId], /sent again by TAILRACE_API_TOKEN/);
  await run(['retry', '--destination', 'crm'], /crm/);
  await run(['drain', '--destination', 'crm', '--yes'], /crm/);
  await run(['get', 'recall', 'crm'], /0 dead letters made; 0 of 2 partitions/);
  const { id } = await runJson<{ id: string }>('recover', 'destination', 'crm', '--since', '1h');
  await control.logged((line) => line.msg === 'replay ended' && line['replay'] === id);
  await run(['get', 'replays'], new RegExp(id));
  await run(['get', 'replay', id], /1 of 1 dead letter replayed/);
  for (const verb of ['interrupt', 'pause', 'resume']) await run([verb, 'replay', id], /ended before: done/);
  const past = ['replay', 'events', '--destination', 'crm', '--from', '1h'];
  await run([...past, '--dry-run'], /0 events would be/);
  const filter = file('filter.yaml', 'filter: { types: [page] }\n');
  const counted = await runJson<{ filter: object }>(...past, '--filter', filter, '--dry-run');
  assert.deepEqual((counted.filter as { filter?: object }).filter, { types: ['page'] });
  await run(past, /Requested as replay/);
});

test('users are deleted and suppressed, and audiences are synced', async () => {
  await run(['user', 'suppress', 'ada'], /ada|1 user/);
  await run(['get', 'suppressions'], /ada/);
  await run(['get', 'suppression', 'ada'], /ada/);
  await run(['user', 'unsuppress', 'ada'], /ada|1 user/);
  await run(['user', 'delete', 'grace', '--request', 'r-1', '--yes'], /r-1/);
  await run(['get', 'deletions'], /r-1/);
  await run(['get', 'deletion', 'r-1'], /1 pending/);
  await run(['user', 'undelete', 'r-1'], /Lifted/);

  const members = file('members.ndjson', '"ada"\n"mary"\n');
  await run(['audience', 'sync', 'web', 'VIP', members, '--dry-run'], /^2 users would join: [^]*0 users/);
  await run(['audience', 'sync', 'web', 'VIP', members], /2/);
  const changes = file('changes.csv', 'added,removed\nzoe,mary\n');
  await run(['audience', 'sync', 'web', 'VIP', changes, '--changes', '--dry-run'], /^1 user would join: zoe/);
  await run(['audience', 'sync', 'web', 'VIP', changes, '--changes'], /^2 users: 1 joined, 1 left, 2 sent/);
  await run(['audience', 'sync', 'web', 'VIP', '--destination', 'crm', '--dry-run'], /2 users would be sent/);
  await run(['audience', 'sync', 'web', 'VIP', '--destination', 'crm'], /^2 members sent to crm/);
  await run(['audience', 'list', 'web'], /VIP/);
  await run(['get', 'audiences', 'web'], /VIP/);
  await run(['audience', 'delete', 'web', 'VIP', '--yes'], /VIP/);
});

test('what was created is deleted, and every command of the API was called', async () => {
  await run(['delete', 'notification', 'ops', '--yes'], /ops/);
  await run(['delete', 'destination', 'crm', '--yes'], /crm/);
  await run(['delete', 'source', 'web', '--yes'], /web/);
  assert.deepEqual(
    commands.filter((command) => !called.has(command)),
    [],
  );
});
