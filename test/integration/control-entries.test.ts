/** Sources through the API on a real Kafka: one life cycle, and concurrent instances. services/control tests the rest. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openConfig } from '@tailrace/config';
import fc from 'fast-check';
import { startControl, startControlPlane, type Asked, type Control } from '../support/processes/control.ts';

const control = await startControlPlane();
const second = await startControl(control.brokers, control.prefix);
after(async () => {
  await second[Symbol.asyncDispose]();
  await control[Symbol.asyncDispose]();
});

async function newSource(fields: object = {}): Promise<string> {
  const { id } = await control.expect(201, { method: 'POST', path: '/v1/sources', body: fields });
  return String(id);
}

async function refused(asked: Asked, status: number, code: string): Promise<void> {
  const answer = await control.ask(asked);
  assert.deepEqual([answer.status, answer.json['code']], [status, code], answer.text);
}

test('a source is created with an id and a write key, read, changed, and deleted', async () => {
  const created = await control.ask({ method: 'POST', path: '/v1/sources', body: { name: 'Website' } });
  assert.equal(created.status, 201, created.text);
  const { id, writeKeys } = created.json as { id: string; writeKeys: string[] };
  assert.equal(created.headers.get('location'), `/v1/sources/${id}`);
  assert.match(writeKeys[0] ?? '', /^wk_[\w-]{24}$/);

  const path = `/v1/sources/${id}`;
  const read = await control.ask({ path });
  assert.deepEqual([read.json, read.etag], [created.json, created.etag]);

  const patched = await control.ask({ method: 'PATCH', path, body: { enabled: false, name: null } });
  assert.deepEqual(patched.json, { id, writeKeys, enabled: false });
  assert.notEqual(patched.etag, created.etag);
  const replaced = await control.expect(200, { method: 'PUT', path, body: { writeKeys, rateLimit: 5 } });
  assert.deepEqual(replaced, { id, writeKeys, rateLimit: 5, enabled: true });

  assert.equal((await control.ask({ method: 'DELETE', path })).status, 204);
  await refused({ path }, 404, 'not-found');
  await refused({ method: 'PATCH', path, body: {} }, 404, 'not-found');
  await refused({ method: 'DELETE', path }, 404, 'not-found');
});

test('a change that one instance acknowledged is visible to the next change of another', async () => {
  const id = await newSource({ name: 'a' });
  const path = `/v1/sources/${id}`;
  await second.expect(200, { method: 'PATCH', path, body: { rateLimit: 7 } });
  const both = await control.expect(200, { method: 'PATCH', path, body: { name: 'b' } });
  assert.deepEqual([both['name'], both['rateLimit']], ['b', 7]);
});

/** Reads, adds one, and writes with If-Match, until it succeeds. */
async function increment(instance: Control, path: string): Promise<void> {
  for (;;) {
    const read = await instance.ask({ path });
    const { status } = await instance.ask({
      method: 'PATCH',
      path,
      body: { rateLimit: Number(read.json['rateLimit']) + 1 },
      headers: { 'if-match': read.etag },
    });
    if (status === 200) return;
    assert.equal(status, 412);
  }
}

test('increments and creations by several writers at two instances are all stored', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 2, maxLength: 6 }), async (atSecond) => {
      const id = await newSource({ rateLimit: 1 });
      const created = await Promise.all(
        atSecond.map(async (isSecond) => {
          const instance = isSecond ? second : control;
          await increment(instance, `/v1/sources/${id}`);
          const answer = await instance.expect(201, { method: 'POST', path: '/v1/sources' });
          return String(answer['id']);
        }),
      );
      await using view = await openView();
      assert.equal(view.source(id)?.rateLimit, 1 + atSecond.length);
      for (const own of created) assert.ok(view.source(own));
    }),
    { numRuns: 4 },
  );
});

async function openView() {
  const ignore = (): void => undefined;
  const view = await openConfig(control.kafka, control.names.config, { warn: ignore });
  return Object.assign(view, { [Symbol.asyncDispose]: () => view.close() });
}

test('every change is a line in the audit log, with actor and outcome', async () => {
  const id = await newSource();
  await control.ask({ method: 'PATCH', path: `/v1/sources/${id}`, body: { enabled: 'yes' } });
  const line = await control.process.log.find(
    (found) => found['target'] === `source/${id}` && found['outcome'] === 'refused',
  );
  assert.deepEqual(
    [line['audit'], line['actor'], line['status'], line['code']],
    ['source.update', 'admin', 400, 'invalid-configuration'],
  );
  assert.match(String(line['tokenFingerprint']), /^[0-9a-f]{8}$/);
  assert.ok(!JSON.stringify(control.process.log.items).includes('test-admin-token'));
});
