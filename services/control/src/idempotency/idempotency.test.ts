/** Idempotency-Key: the same request has the same answer, in every instance, and is executed once. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import { names, newCluster, openApi, readToken, type Api, type ApiRequest } from '../testing/api.ts';
import { amounts } from '../access/shared.ts';
import { abandonedMs, Keys, keptMs, type KeyRecord } from './keys.ts';

const cluster = newCluster();
let control: Api;
let other: Api;
before(async () => {
  [control, other] = await Promise.all([openApi(cluster), openApi(cluster)]);
});
after(async () => {
  await other[Symbol.asyncDispose]();
  await control[Symbol.asyncDispose]();
});

const createSource = (key: string, body: object = {}): ApiRequest => ({
  method: 'POST',
  path: '/v1/sources',
  body,
  headers: { 'idempotency-key': key },
});
const sources = async () =>
  ((await control.expect(200, { path: '/v1/sources' }))['items'] as unknown[]).length;

test('the same request with the same key is executed once, and answered alike by every instance', async () => {
  const before = await sources();
  const first = await control.ask(createSource('k-1'));
  const again = await control.ask(createSource('k-1'));
  const elsewhere = await other.ask(createSource('k-1'));
  assert.equal(first.status, 201, first.text);
  for (const { status, text, headers, etag } of [again, elsewhere]) {
    assert.deepEqual([status, text], [201, first.text]);
    assert.deepEqual([headers.get('location'), etag], [first.headers.get('location'), first.etag]);
  }
  assert.equal(await sources(), before + 1);
});

test('a request whose answer is too long to be kept is executed once too', async () => {
  const before = await sources();
  const blocked = Array.from({ length: 900 }, (_, nth) => `${nth} ${'x'.repeat(400)}`);
  const request = createSource('k-long', { schema: { track: { blocked } } });
  await control.expect(201, request);
  for (const instance of [control, other]) {
    const { json } = await instance.refused(request, 409, 'conflict');
    assert.match(String(json['message']), /was executed/);
  }
  assert.equal(await sources(), before + 1);
});

test('another request with the same key is refused, and another key or caller is independent', async () => {
  await control.expect(201, createSource('k-2', { name: 'One' }));
  await control.refused(createSource('k-2', { name: 'Two' }), 422, 'idempotency-key-reused');
  await control.expect(201, createSource('k-3', { name: 'One' }));
  await control.refused({ ...createSource('k-2', { name: 'One' }), token: readToken }, 403, 'forbidden');
  await control.refused(createSource('', {}), 400, 'invalid-request');
});

test('of requests at the same moment in two instances, one is executed', async () => {
  const before = await sources();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? control : other).ask(createSource('k-4'))),
  );
  const statuses = new Set(answers.map(({ status }) => status));
  assert.ok(
    statuses.has(201) && [...statuses].every((status) => status === 201 || status === 409),
    [...statuses].join(),
  );
  assert.equal(await sources(), before + 1);
});

test('a refused request creates nothing, and its key can be used again', async () => {
  await control.refused(createSource('k-5', { id: '!' }), 400, 'invalid-configuration');
  await control.expect(201, createSource('k-5', { id: 'after-refusal' }));
});

test('a token that is shown once is not readable in the stored answer', async () => {
  const body = { name: 'idempotent', scope: 'read' };
  const request: ApiRequest = {
    method: 'POST',
    path: '/v1/tokens',
    body,
    headers: { 'idempotency-key': 'k-6' },
  };
  const first = await control.expect(201, request);
  assert.deepEqual(await other.expect(201, request), first);
  const secret = String(first['token']).slice(-43);
  assert.ok(!cluster.records(names.idempotency).some(({ value }) => value?.includes(secret)));
});

/** Kafka, whose acknowledgement of a change is lost, followed by an outage. */
function failingKafka(isWritten: boolean): { use: (kafka: Kafka) => Kafka; end: () => void } {
  let isDown = false;
  const fail = (): never => {
    isDown = true;
    throw new TailraceError('kafka-unavailable');
  };
  return {
    use: (kafka) => ({
      ...kafka,
      async exclusivePublisher(id, options) {
        if (isDown) fail();
        const publisher = await kafka.exclusivePublisher(id, options);
        return {
          ...publisher,
          close: () => publisher.close(),
          async publish(records) {
            if (isWritten) await publisher.publish(records);
            fail();
          },
        };
      },
    }),
    end: () => {
      isDown = false;
    },
  };
}

for (const isWritten of [true, false]) {
  test(`a creation whose outcome was unknown happens once when it is sent again: ${isWritten ? 'written' : 'not written'}`, async () => {
    const outage = failingKafka(isWritten);
    await using failing = await openApi(cluster, {}, { configKafka: outage.use, changeGivesUpAfterMs: 1 });
    const before = await sources();
    const request = createSource(`k-outage-${isWritten}`, { name: 'Once' });
    await failing.refused(request, 503, 'kafka-unavailable');
    await failing.refused(request, 503, 'kafka-unavailable');
    await other.refused({ ...request, body: { name: 'Twice' } }, 422, 'idempotency-key-reused');
    const first = await other.ask(request);
    assert.equal(first.status, 201, first.text);
    assert.equal(first.headers.get('location'), `/v1/sources/${String(first.json['id'])}`);
    assert.ok(first.etag !== '' && Array.isArray(first.json['writeKeys']));
    const again = await control.ask(request);
    assert.deepEqual([again.status, again.text, again.etag], [201, first.text, first.etag]);
    assert.equal(await sources(), before + 1);
  });
}

test('a token or a secret that was made, and not shown, is not made a second time', async () => {
  const outage = failingKafka(true);
  await using failing = await openApi(cluster, {}, { configKafka: outage.use, changeGivesUpAfterMs: 1 });
  const request: ApiRequest = {
    method: 'POST',
    path: '/v1/tokens',
    body: { name: 'not shown', scope: 'read' },
    headers: { 'idempotency-key': 'k-not-shown' },
  };
  await failing.refused(request, 503, 'kafka-unavailable');
  for (const instance of [control, other]) {
    const { json } = await instance.refused(request, 409, 'conflict');
    assert.match(String(json['message']), /It changed token\/[0-9a-f]{12}/);
  }
  const { items } = await control.expect(200, { path: '/v1/tokens' });
  assert.equal((items as { name: string }[]).filter(({ name }) => name === 'not shown').length, 1);
});

/** Keys, and a topic with their records. `pass` lets time pass. */
function openKeys() {
  let elapsedMs = 0;
  const keys = new Keys(() => elapsedMs);
  let offset = 0;
  const accept = (record: Partial<KeyRecord>): number => {
    const whole = { key: 'k', caller: 'c', claim: '1', state: 'begun', request: 'r', at: 0, ...record };
    keys.accept({ offset, value: Buffer.from(JSON.stringify(whole)) });
    return offset++;
  };
  const pass = (ms: number): void => {
    elapsedMs += ms;
  };
  return { keys, accept, pass };
}

test('a request without an end may be executed again when an instance has known it for a minute, whatever the clocks of the others say', () => {
  const { keys, accept, pass } = openKeys();
  const found = () => keys.find('k', 0);
  const isUnknown = () => keys.hasUnknownOutcome('k');
  accept({});
  // Of an instance whose clock is an hour ahead.
  const ahead = 60 * abandonedMs;
  accept({ claim: '2', at: ahead });
  assert.equal(found()?.claim, '1');
  pass(abandonedMs - 1);
  assert.equal(isUnknown(), false);
  pass(1);
  assert.equal(isUnknown(), true);
  accept({ claim: '3', replaces: '1', request: 'another' });
  assert.equal(found()?.claim, '1', 'another request does not get the key');
  // An instance that has just started takes it over where another one does.
  accept({ claim: '4', replaces: '1' });
  accept({ claim: '5', replaces: '1' });
  assert.deepEqual([found()?.claim, found()?.id], ['4', '1'], 'the request keeps its id');
  accept({ claim: '1', state: 'done' });
  assert.equal(found()?.answeredAt, undefined, 'a claim that was taken over ends nothing');
  assert.equal(accept({ claim: '4', state: 'done' }), found()?.answeredAt);
});

test('a key is kept for a day, and the number of keys is bounded', () => {
  const { keys, accept } = openKeys();
  accept({});
  accept({ state: 'done' });
  assert.equal(keys.find('k', keptMs - 1)?.answeredAt, 1);
  assert.equal(keys.find('k', keptMs), undefined);
  const now = keptMs;
  for (let n = 0; n < amounts.idempotencyKeys.ofOne; n += 1)
    accept({ key: `k-${n}`, claim: `${n}`, at: now });
  assert.deepEqual([keys.hasPlace('c', now), keys.hasPlace('d', now)], [false, true]);
  assert.equal(keys.hasPlace('c', now + keptMs), true);
});
