/** How deliveries end as dead letters, on an in-memory Kafka cluster and with a fake sender. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { readBack } from '@tailrace/kafka';
import { encodeDelivery } from '@tailrace/records';
import { targetsOf } from '@tailrace/webhook';
import { gone, serverError } from '../testing/fake-sender.ts';
import { destinationOf, names, newDelivery, Stage } from '../testing/stage.ts';

const crm = destinationOf('crm');

describe('a delivery becomes a dead letter', () => {
  test('9.4 9.7 with the answers of its URLs, if each has refused it permanently', async () => {
    await using stage = new Stage();
    const webhooks = [
      { url: 'https://wrong.example.com/?key=topsecret' },
      { url: 'https://moved.example.com/' },
    ];
    await stage.configure({ ...crm, settings: { webhooks } });
    const { sender } = await stage.startReplica();
    sender.onRequest = ({ origin }) =>
      origin.includes('moved') ? { kind: 'permanent', reason: 'redirect', status: 301 } : gone;
    const delivery = newDelivery('crm');
    await stage.publish(delivery);
    const letter = await stage.deadLetter();
    assert.equal(letter.reason, 'client-error');
    assert.equal(letter.attempt, 1);
    assert.equal(letter.dueAt, undefined);
    assert.deepEqual(letter.body, delivery.body);
    assert.partialDeepStrictEqual(JSON.parse(letter.lastAnswer ?? ''), [
      { url: 'https://wrong.example.com/', status: 410, reason: 'client-error' },
      { url: 'https://moved.example.com/', status: 301, reason: 'redirect' },
    ]);
    assert.doesNotMatch(letter.lastAnswer ?? '', /topsecret/);
    await stage.untilCommitted(1);
    assert.partialDeepStrictEqual(await stage.attempts(), [{ outcome: 'dead', reason: 'client-error' }]);
  });

  test('10.4 after the last failure of the schedule', async () => {
    await using stage = new Stage({ scheduleMs: [20, 40] });
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    sender.onRequest = () => serverError;
    await stage.publish(newDelivery('crm'));
    const letter = await stage.deadLetter();
    assert.deepEqual([letter.reason, letter.attempt], ['attempts-exhausted', 3]);
    assert.partialDeepStrictEqual(JSON.parse(letter.lastAnswer ?? ''), [{ status: 503 }]);
    assert.equal(sender.requests.length, 3);
  });

  test('10.4 if no retry is possible within its window', async () => {
    await using stage = new Stage({ scheduleMs: [2_000], windowMs: 1_000 });
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    sender.onRequest = () => serverError;
    await stage.publish(newDelivery('crm'));
    const letter = await stage.deadLetter();
    assert.deepEqual([letter.reason, letter.attempt], ['window-exceeded', 1]);
    assert.partialDeepStrictEqual(JSON.parse(letter.lastAnswer ?? ''), [{ status: 503 }]);
  });

  test('10.9 after the last failure of the schedule of its destination, or without a retry where that wants none', async () => {
    await using stage = new Stage({ scheduleMs: [20, 40] });
    const never = { ...crm, id: 'never', retry: { for: '0s' } };
    await stage.configure({ ...crm, retry: { schedule: ['1s'] } }, never);
    const { sender } = await stage.startReplica();
    sender.onRequest = () => serverError;
    await stage.publish([newDelivery('never'), newDelivery('crm')]);
    const letters = await stage.records(names.deliveriesDead, 2);
    const shown = letters.map(({ headers }) =>
      ['destination-id', 'reason', 'attempt'].map((name) => String(headers[name])).join(' '),
    );
    assert.deepEqual(shown.sort(), ['crm attempts-exhausted 2', 'never window-exceeded 1']);
  });

  test('9.5 without a request, if its window has ended', async () => {
    await using stage = new Stage({ scheduleMs: [20], windowMs: 60_000 });
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    const times = { firstAttemptAt: Date.now() - 61_000, dueAt: Date.now() - 5_000 };
    await stage.publish(newDelivery('crm', { attempt: 2, ...times }), names.retryTier(20));
    assert.equal((await stage.deadLetter()).reason, 'window-exceeded');
    assert.equal(sender.requests.length, 0);
  });

  test('9.5 without a request, if its destination is disabled', async () => {
    await using stage = new Stage();
    await stage.configure({ ...crm, enabled: false });
    const { sender } = await stage.startReplica();
    const delivery = newDelivery('crm');
    await stage.publish(delivery);
    const { reason, attempt, body } = await stage.deadLetter();
    assert.deepEqual({ reason, attempt }, { reason: 'destination-disabled', attempt: 0 });
    assert.deepEqual(body, delivery.body);
    assert.equal(sender.requests.length, 0);
    await stage.untilCommitted(1);
  });

  test('9.5 without a request, if its destination was deleted', async () => {
    await using stage = new Stage();
    await stage.startReplica();
    const delivery = newDelivery('never-was');
    await stage.publish(delivery);
    const { reason, body } = await stage.deadLetter();
    assert.equal(reason, 'destination-deleted');
    assert.deepEqual(body, delivery.body);
    await stage.untilCommitted(1);
  });

  test('without a request, if all its URLs have refused it before', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    const closedUrls = targetsOf(crm).map(({ fingerprint }) => fingerprint);
    await stage.publish(newDelivery('crm', { attempt: 1, closedUrls }));
    assert.equal((await stage.deadLetter()).reason, 'no-open-url');
    assert.equal(sender.requests.length, 0);
  });
});

test('9.5 a record that is not a delivery becomes a dead letter with its own content, and its partition continues', async () => {
  await using stage = new Stage();
  await stage.configure(crm);
  const { sender } = await stage.startReplica();
  const good = encodeDelivery(names.deliveries, newDelivery('crm'), 0);
  const { headers: goodHeaders } = readBack(good.headers);
  const malformed = [
    { ...good, headers: { 'x-mine': 'kept' }, value: 'no headers at all' },
    { ...good, headers: { ...goodHeaders, attempt: 'many', 'x-mine': 'kept' } },
    { ...good, headers: { ...goodHeaders, 'due-at': 'tomorrow', 'x-mine': 'kept' } },
    { ...good, headers: { ...goodHeaders, 'x-mine': 'kept' }, value: null },
    { ...good, headers: { 'x-mine': 'kept' }, key: null, value: Buffer.from([0xff, 0x00]) },
    {
      ...good,
      headers: [
        ['x-mine', 'twice'],
        ['x-mine', 'kept'],
        ['reason', 'of its own'],
        ['last-answer', Buffer.from([0xff])],
      ] as const,
    },
  ];
  await stage.write(...malformed, good);
  await stage.untilCommitted(malformed.length + 1);

  const letters = await stage.records(names.deliveriesDead, malformed.length);
  assert.equal(letters.length, malformed.length);
  const bytesOf = (value: string | Buffer | null): Buffer | null =>
    value === null ? null : Buffer.from(value);
  for (const [index, record] of letters.entries()) {
    assert.equal(record.headers['x-mine']?.toString(), 'kept');
    assert.equal(record.headers['reason']?.toString(), 'malformed-record');
    assert.notEqual(record.headers['last-answer']?.toString() ?? '', '');
    const { headerList } = readBack(malformed[index]?.headers);
    for (const header of headerList)
      assert.ok(record.headerList.some((kept) => isDeepStrictEqual(kept, header)));
    assert.equal(record.headerList.length, headerList.length + 2);
    assert.deepEqual(record.value, bytesOf(malformed[index]?.value ?? null));
    assert.deepEqual(record.key, bytesOf(malformed[index]?.key ?? null));
  }
  assert.equal(sender.requests.length, 1);
});

for (const [refusedBy, answer] of [
  [names.retryTier(20), serverError],
  [names.deliveriesDead, gone],
] as const) {
  test(`a record that is too large for ${refusedBy} becomes a dead letter without content`, async () => {
    await using stage = new Stage({ scheduleMs: [20], maxMessageBytes: { [refusedBy]: 1_000 } });
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    sender.onRequest = () => answer;
    await stage.publish(newDelivery('crm', { body: Buffer.alloc(2_000, 'x') }));
    const [stub] = await stage.records(names.deliveriesDead);
    assert.deepEqual([stub?.key, stub?.value], [null, null]);
    const { 'last-answer': lastAnswer, ...headers } = stub?.headers ?? {};
    assert.deepEqual(
      Object.entries(headers).map(([name, value]) => [name, value.toString()]),
      [
        ['reason', 'malformed-record'],
        ['origin-topic', names.deliveries],
        ['origin-partition', '0'],
        ['origin-offset', '0'],
      ],
    );
    assert.match(lastAnswer?.toString() ?? '', /^[\w.]+ accepts no record of this size\./);
    assert.ok(lastAnswer?.toString().startsWith(refusedBy));
    await stage.untilCommitted(1);
    assert.ok(stage.log.some((line) => line['level'] === 'error' && line['refusedBy'] === refusedBy));
  });
}

test('17.5 the log contains no secret', async () => {
  await using stage = new Stage();
  const settings = {
    webhooks: [{ url: 'https://crm.example.com/hook?token=t0psecret' }],
    sharedSecret: 'shhhh',
  };
  await stage.configure({ ...crm, settings });
  const { sender } = await stage.startReplica();
  sender.onRequest = () => ({ kind: 'permanent', reason: 'client-error', status: 400 });
  const delivery = newDelivery('crm');
  await stage.publish(delivery);
  await stage.deadLetter();
  await stage.untilCommitted(1);
  const line = stage.log.find(
    (line) => line['msg'] === 'attempt' && line['deliveryId'] === delivery.deliveryId,
  );
  assert.partialDeepStrictEqual(line, { destinationId: 'crm', outcome: 'dead', attempt: 1 });
  assert.doesNotMatch(JSON.stringify(stage.log), /t0psecret|shhhh/);
});
