/** Lists as CSV. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { names, openApi, readToken, type Api } from '../testing/api.ts';
import { createFlow } from '../testing/flow.ts';

let control: Api;
let limited: string;
/** More than a page of an export. */
const many = 501;

before(async () => {
  control = await openApi();
  const settings = { webhooks: [{ url: 'https://crm.example/' }] };
  for (const id of ['crm', 'erp']) {
    await control.expect(201, {
      method: 'POST',
      path: '/v1/destinations',
      body: { id, type: 'Webhooks', settings },
    });
  }
  const body = { name: 'erp team', scope: 'write', destinations: ['erp'] };
  limited = String((await control.expect(201, { method: 'POST', path: '/v1/tokens', body }))['token']);
  const flow = createFlow(control.kafka);
  const formula = flow.delivery('erp', { eventName: '=HYPERLINK("https://evil.test")' });
  await flow.publish(names.deliveries, formula);
  await flow.publish(names.deliveriesDead, { ...formula, attempt: 1, reason: 'client-error' });
  await Promise.all(Array.from({ length: many }, () => flow.publish(names.deliveries, flow.delivery('crm'))));
  const rule = { path: 'condition', text: 'properties.total atLeast 100' };
  await flow.decision('event-filtered', [{ reason: 'filter', rule, destinations: [{ id: 'erp' }] }]);
  await control.historyRead();
});
after(() => control[Symbol.asyncDispose]());

async function linesOf(path: string, token?: string): Promise<string[]> {
  const { status, headers, text } = await control.ask({ path, ...(token !== undefined && { token }) });
  assert.equal(status, 200, text);
  assert.match(headers.get('content-type') ?? '', /^text\/csv/);
  assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="[a-z-]+\.csv"$/);
  assert.ok(text.endsWith('\r\n'));
  return text.slice(0, -2).split('\r\n');
}

test('all pages of a list are in its file, and its filter applies', async () => {
  const [header, ...rows] = await linesOf('/v1/deliveries.csv?destination=crm');
  assert.equal(
    header,
    '"createdAt","status","type","event","sourceId","destinationId","userKey","reason","attempts","changedAt","nextDueAt","deliveryId","eventId"',
  );
  assert.equal(rows.length, many);
  assert.equal(new Set(rows).size, many);
  assert.match(rows[0] ?? '', /^"2\d{3}-[^"]*Z","waiting","track","Order Completed","web","crm","ada",/);
});

test('the name of an event is no formula in a spreadsheet', async () => {
  for (const path of ['/v1/deliveries.csv?destination=erp', '/v1/dead-letters.csv']) {
    const [, row, ...others] = await linesOf(path);
    assert.deepEqual(others, []);
    assert.ok(row?.includes(`"'=HYPERLINK(""https://evil.test"")"`), row);
  }
});

test('a filtered event has its rule', async () => {
  const [header, row] = await linesOf('/v1/decisions.csv?reason=filter');
  assert.equal(
    header,
    '"decidedAt","reason","rule","type","event","sourceId","destinationId","userKey","eventId"',
  );
  assert.match(
    row ?? '',
    /,"filter","properties\.total atLeast 100","track",.*,"erp","ada","event-filtered"$/,
  );
});

test('destinations have their health, issues their note, and the audit log its changes in a file', async () => {
  const note = 'Moves, on Thursday';
  const body = { state: 'acknowledged', note };
  await control.expect(200, { method: 'PUT', path: '/v1/destinations/erp/issues/client-error', body });
  const [header, crm, erp] = await linesOf('/v1/destination-health.csv');
  assert.match(header ?? '', /^"id","name","state","enabled","paused","attempts",/);
  assert.match(`${crm} ${erp}`, /"crm",,"[a-z-]+",true,false,.*,"","https:\/\/crm\.example\/"/);
  const [, issue, ...others] = await linesOf('/v1/issues.csv?destination=erp&state=acknowledged');
  assert.match(issue ?? '', /^"erp","client-error","acknowledged",.*,"Moves, on Thursday","[^"]*","2/);
  assert.deepEqual(others, []);
  const [, created] = await linesOf('/v1/audit.csv?target=destination/erp&action=destination.create');
  assert.match(created ?? '', /,"destination\.create","destination\/erp","done",,.*,"\[\{""field"":""/);
});

test('suppressed users are in a file, for a token that sees them', async () => {
  const userIds = ['zoe', '+49 30 1234'];
  await control.expect(200, { method: 'POST', path: '/v1/suppressions', body: { userIds } });
  const [header, ...rows] = await linesOf('/v1/suppressions.csv');
  assert.equal(header, '"userId","since"');
  assert.deepEqual(
    rows.map((row) => row.split(',')[0]),
    [`"'+49 30 1234"`, '"zoe"'],
  );
  await control.refused({ path: '/v1/suppressions.csv', token: readToken }, 403, 'forbidden');
});

test('a token gets in a file what it sees in the list', async () => {
  const masked = await linesOf('/v1/deliveries.csv?destination=erp', readToken);
  assert.match(masked[1] ?? '', /,"erp","\*\*\*",/);
  assert.equal((await linesOf('/v1/deliveries.csv', limited)).length, 2);
  await control.refused({ path: '/v1/deliveries.csv?destination=crm', token: limited }, 404, 'not-found');
});

test('a filter that the list refuses is refused, and takes no place of later exports', async () => {
  for (let nth = 0; nth < 10; nth += 1) {
    await control.refused({ path: '/v1/dead-letters.csv?reason=no%20reason' }, 400, 'invalid-request');
    await control.refused({ path: '/v1/deliveries.csv?limit=5' }, 400, 'invalid-request');
    await linesOf('/v1/decisions.csv');
  }
});
