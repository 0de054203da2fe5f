import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { names, openApi, type Api } from '../../testing/api.ts';

let control: Api;
before(async () => {
  control = await openApi();
  const destination = {
    id: 'crm',
    type: 'Webhooks',
    settings: { webhooks: [{ url: 'https://crm.example/hook' }] },
    filter: { condition: { field: 'properties.total', atLeast: 100 } },
  };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body: destination });
});
after(() => control[Symbol.asyncDispose]());

const request = (body?: unknown) =>
  ({ method: 'POST', path: '/v1/destinations/crm/filter/test', body }) as const;
const order = (total: unknown) => ({ type: 'track', userId: 'ada', event: 'Order', properties: { total } });
const rule = { path: 'condition', text: 'properties.total atLeast 100' };

test('a call is tried on the filter of the destination, and the rule that it does not meet is named', async () => {
  const passing = await control.expect(200, request({ call: order(100) }));
  assert.equal(passing['passes'], true);
  assert.match(String(passing['body']), /"event":"Order","properties":\{"total":100\}\}$/);
  for (const total of [99.5, '100', null]) {
    const { passes, rule: broken } = await control.expect(200, request({ call: order(total) }));
    assert.deepEqual([passes, broken], [false, rule], String(total));
  }
});

test('numbers of the call that a double cannot hold are tried as the router does, and stay as they are', async () => {
  const condition = '"filter":{"condition":{"field":"properties.total","greaterThan":100}}';
  for (const digits of ['9007199254740993', '12345678901234567890123', '1e400']) {
    const call = `"call":{"type":"track","userId":"ada","event":"Order","properties":{"total":${digits}}}`;
    const shown = await control.expect(200, { ...request(), bytes: Buffer.from(`{${condition},${call}}`) });
    assert.equal(shown['passes'], true, digits);
    assert.ok(String(shown['body']).endsWith(`"properties":{"total":${digits}}}`), String(shown['body']));
  }
});

test('a filter is tried before it is saved, on a sample where there is no call', async () => {
  const records = control.cluster.records(names.config).length;
  const filter = { types: ['track'], events: { include: ['Test *'] } };
  assert.equal((await control.expect(200, request({ filter })))['passes'], true);
  const page = await control.expect(200, request({ filter, type: 'page' }));
  assert.deepEqual([page['passes'], page['rule']], [false, { path: 'types', text: 'types track' }]);
  assert.deepEqual((await control.expect(200, request()))['rule'], rule);
  assert.equal(control.cluster.records(names.config).length, records);
});

test('a delete passes every filter', async () => {
  const { passes } = await control.expect(200, request({ type: 'delete', filter: { types: ['page'] } }));
  assert.equal(passes, true);
});

test('an invalid filter or call is refused with the field', async () => {
  const filter = { condition: { field: 'property', equals: 1 } };
  const invalid = await control.refused(request({ filter }), 400, 'invalid-configuration');
  assert.match(invalid.text, /filter\.condition\.field/);
  for (const [body, field] of [
    [{ call: { type: 'track', userId: 'ada' } }, 'call'],
    [{ call: 7 }, 'call'],
    [{ type: 'click' }, 'type'],
    [{ filters: {} }, 'filters'],
    [[], 'body'],
  ] as const) {
    const { json } = await control.refused(request(body), 400, 'invalid-request');
    assert.equal((json['problems'] as { field: string }[])[0]?.field, field);
  }
  const missing = { ...request({}), path: '/v1/destinations/none/filter/test' };
  await control.refused(missing, 404, 'not-found');
});

test('a filter is saved, shown and removed like any field', async () => {
  const path = '/v1/destinations/crm';
  const filter = { events: { exclude: ['*Draft'] } };
  const saved = await control.expect(200, {
    method: 'PATCH',
    path,
    body: { filter: { ...filter, condition: null } },
  });
  assert.deepEqual(saved['filter'], filter);
  assert.deepEqual((await control.expect(200, { path }))['filter'], filter);
  const removed = await control.expect(200, { method: 'PATCH', path, body: { filter: null } });
  assert.equal('filter' in removed, false);
});

test('4.5 the catalog says whether a type accepts historical timestamps', async () => {
  const { acceptsHistoricalTimestamps } = await control.expect(200, { path: '/v1/catalog/Webhooks' });
  assert.equal(acceptsHistoricalTimestamps, true);
});

test('a transform is tried on what the fields leave, before it is saved, and shows its result, logs and failure', async () => {
  const path = '/v1/destinations/crm/transform/test';
  const tried = (body: object) => control.expect(200, { method: 'POST', path, body });
  const code =
    "(event) => {\n  console.log('total', event.properties.total);\n  return { body: { sum: event.properties.total }, headers: { 'X-A': 'b' } };\n}";
  const { input, cpuMs, ...made } = await tried({ code, call: order(5) });
  assert.match(String(input), /"properties":\{"total":5\}\}$/);
  assert.equal(typeof cpuMs, 'number');
  assert.deepEqual(made, { outcome: 'body', body: '{"sum":5}', headers: { 'X-A': 'b' }, logs: ['total 5'] });
  assert.equal((await tried({ code: '() => null' }))['outcome'], 'filtered');
  const error = async (code: string) => (await tried({ code }))['error'];
  assert.deepEqual(await error('() => {\n  null.x;\n}'), {
    message: "TypeError: cannot read property 'x' of null",
    line: 2,
  });
  assert.match(JSON.stringify(await error('(event) =>')), /SyntaxError.*"line":1/);
  assert.match(
    JSON.stringify(await error("() => ({ body: 1, headers: { Host: 'a' } })")),
    /is set by Tailrace/,
  );
  assert.match(JSON.stringify(await error('() => ({ body: 1, url: 1 })')), /the destination has 1, from 0/);
  await control.refused({ method: 'POST', path, body: {} }, 400, 'invalid-request');
});

test('a transform is refused where it is no script, and its version counts the changes of the code', async () => {
  const patch = (transform: unknown) =>
    ({ method: 'PATCH', path: '/v1/destinations/crm', body: { transform } }) as const;
  const refused = await control.refused(
    patch({ code: '(event) => {\n  return 1 +;\n}' }),
    400,
    'invalid-configuration',
  );
  assert.match(refused.text, /transform\.code: has a syntax error in line 2: Unexpected token ';'/);
  const long = await control.refused(
    patch({ code: `() => '${'ü'.repeat(20_000)}'` }),
    400,
    'invalid-configuration',
  );
  assert.match(long.text, /has 40008 bytes, and 32768 are allowed/);
  for (const [code, version] of [
    ['() => 1', 1],
    ['() => 1', 1],
    ['() => 2', 2],
  ] as const) {
    const { transform } = await control.expect(200, patch({ code, version: 7 }));
    assert.deepEqual(transform, { code, version });
  }
  const path = '/v1/destinations/crm/transform/test';
  assert.equal((await control.expect(200, { method: 'POST', path, body: {} }))['body'], '2');
  await control.expect(200, patch(null));
});

test('a script that cannot be loaded, or has no function, is not saved; one whose function fails is', async () => {
  const path = '/v1/destinations/crm';
  const stored = await control.expect(200, { path });
  const reused = await control.expect(200, { method: 'PATCH', path, body: { name: 'CRM' } });
  for (const [code, rule] of [
    ['const transform = 1;', /^cannot be loaded: The script has no function\. End it with /],
    ['file:order.js', /^cannot be loaded: ReferenceError: '?order'? is not defined \(line 1\)$/],
    ['\nconst now = Date.now();\n() => now', /^cannot be loaded: TypeError: there is no time .* \(line 2\)$/],
  ] as const) {
    const transform = { code };
    for (const request of [
      { method: 'PATCH', path, body: { transform } },
      { method: 'PUT', path, body: { ...reused, transform } },
      { method: 'POST', path: '/v1/destinations', body: { ...stored, id: 'new', transform } },
    ] as const) {
      const { json } = await control.refused(request, 400, 'invalid-configuration');
      const [problem, ...others] = json['problems'] as { field: string; rule: string }[];
      assert.deepEqual([problem?.field, others], ['transform.code', []]);
      assert.match(problem?.rule ?? '', rule);
    }
  }
  const body = { transform: { code: '(event) => event.no.where' } };
  const saved = await control.expect(200, { method: 'PATCH', path, body });
  assert.equal((saved['transform'] as { code: string }).code, body.transform.code);
  await control.refused({ method: 'PATCH', path: '/v1/destinations/none', body }, 404, 'not-found');
});
