/**
 * Generated calls, valid and invalid, over HTTP (single and in batches) and through a Kafka producer. Each is delivered
 * once, or refused with a reason in the response or in `events.rejected`.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ConsumedRecord } from '@tailrace/kafka';
import fc from 'fast-check';
import { startPipeline, type Connection, type Pipeline } from '../support/processes/pipeline.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { headerOf, watchTopic, type WatchedTopic } from '../support/kafka/topics.ts';

let pipeline: Pipeline;
let rejected: WatchedTopic;
const opened = new AsyncDisposableStack();
before(async () => {
  pipeline = opened.use(await startPipeline());
  // Without the sample of calls that were refused.
  rejected = opened.use(
    await watchTopic(
      pipeline.kafka,
      pipeline.names.eventsRejected,
      (record) => headerOf(record, 'status') === undefined,
    ),
  );
});
after(() => opened.disposeAsync());

type Fields = Readonly<Record<string, unknown>>;

/** Changes that make a call of any type invalid. */
const faults: Readonly<Record<string, (call: Fields) => Fields | string>> = {
  'no user': (call) => ({ ...call, userId: null, anonymousId: '' }),
  'no such type': (call) => ({ ...call, type: 'teleport' }),
  'a long messageId': (call) => ({ ...call, messageId: 'x'.repeat(101) }),
  'an unreadable time': (call) => ({ ...call, timestamp: 'yesterday' }),
  'properties that are text': (call) => ({ ...call, properties: 'text', traits: 'text', context: 'text' }),
  'an id that is an object': (call) => ({ ...call, userId: { id: 1 } }),
  'no object': () => '["call"]',
  'deep nesting': (call) => ({
    ...call,
    context: JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`) as object,
  }),
  'too much': (call) => ({ ...call, properties: { filler: 'x'.repeat(70_000) } }),
};

const required: Readonly<Record<string, Fields>> = {
  track: { event: 'Order Completed' },
  identify: {},
  page: {},
  screen: {},
  group: { groupId: 'g' },
  alias: { previousId: 'p' },
};

/** What a call may have beside what it must have. */
const extras = fc.record(
  {
    properties: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }),
    traits: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }),
    context: fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }),
    timestamp: fc.constantFrom('2026-11-21T07:29:33+0100', '2026-11-21', 1_795_246_173_479, null),
    name: fc.string(),
    channel: fc.jsonValue({ maxDepth: 1 }),
    unknown: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: [] },
);

const generatedCall = fc.record({
  type: fc.constantFrom(...Object.keys(required)),
  extras,
  byAnonymousId: fc.boolean(),
  fault: fc.option(fc.constantFrom(...Object.keys(faults)), { freq: 2 }),
  way: fc.constantFrom('single', 'batch', 'direct'),
});

interface Sent {
  /** User id of a valid call, by which its webhook is found. */
  readonly id: string;
  readonly type: string;
  readonly fault: string | null;
  /** The call as text, for a body or a record. */
  readonly json: string;
}

function sentOf({ type, extras, byAnonymousId, fault, way }: Generated, id: string): Sent {
  const user = byAnonymousId ? { anonymousId: id } : { userId: id };
  const call = { ...extras, type, messageId: `m-${id}`, ...required[type], ...user };
  const broken = fault === null ? call : (faults[fault]?.(call) ?? call);
  // The route of a single call sets its type, so an invalid type in the call has no effect.
  const isOverridden = fault === 'no such type' && way === 'single';
  const json = typeof broken === 'string' ? broken : JSON.stringify(broken);
  return { id, type, fault: isOverridden ? null : fault, json };
}

type Generated = typeof generatedCall extends fc.Arbitrary<infer T> ? T : never;

interface Account {
  readonly accepted: Sent[];
  /** Refused with a reason in the response. */
  readonly refused: Sent[];
  /** Written to `events.rejected`. */
  readonly rejectedLater: Sent[];
}

async function sendSingle(connection: Connection, call: Sent, account: Account): Promise<void> {
  const response = await postRaw(connection, call.type, call.json);
  const answer = (await response.json()) as { success?: boolean; code?: string; message?: string };
  if (response.status === 200) {
    account.accepted.push(call);
    return;
  }
  assert.ok([400, 413].includes(response.status), `${response.status}`);
  assert.ok(answer.code && answer.message);
  account.refused.push(call);
}

async function sendBatch(connection: Connection, calls: readonly Sent[], account: Account): Promise<void> {
  const response = await postRaw(
    connection,
    'batch',
    `{"batch":[${calls.map(({ json }) => json).join(',')}]}`,
  );
  const answer = (await response.json()) as {
    readonly message?: string;
    readonly rejected?: readonly { index: number; code: string; message: string }[];
  };
  const named = new Map((answer.rejected ?? []).map(({ index, message }) => [index, message]));
  if (response.status !== 200) assert.equal(named.size, calls.length, answer.message);
  for (const [index, call] of calls.entries()) {
    if (!named.has(index)) account.accepted.push(call);
    else if (response.status === 200) account.rejectedLater.push(call);
    else account.refused.push(call);
  }
}

function postRaw({ writeKey }: Connection, route: string, body: string): Promise<Response> {
  return fetch(`${pipeline.ingestUrl}/v1/${route}`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${writeKey}:`)}` },
    body,
  });
}

/** The user id of a webhook, under any of its keys. */
function userOf(body: Buffer): string {
  const { userId, anonymousId, 'User ID': aliased } = JSON.parse(body.toString()) as Record<string, string>;
  return userId ?? anonymousId ?? aliased ?? '';
}

test('16.1 17.1 every call is delivered once, or refused with a reason, and the totals add up', async () => {
  const publisher = pipeline.kafka.publisher();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(generatedCall, { minLength: 40, maxLength: 80 }), async (generated) => {
      run += 1;
      await using receiver = await startReceiver();
      const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
      const account: Account = { accepted: [], refused: [], rejectedLater: [] };
      const sentBy = (way: string): Sent[] =>
        generated.flatMap((call, index) => (call.way === way ? [sentOf(call, `${run}-${index}`)] : []));
      const publish = ({ id, json }: Sent): Promise<void> =>
        publisher.publish({
          topic: pipeline.names.events,
          key: id,
          value: json,
          headers: { 'write-key': connection.writeKey },
        });
      const known = rejected.items.length;

      const direct = sentBy('direct');
      const batch = sentBy('batch');
      await Promise.all([
        ...direct.map(publish),
        ...sentBy('single').map((call) => sendSingle(connection, call, account)),
        ...[batch.slice(0, 5), batch.slice(5)]
          .filter((calls) => calls.length > 0)
          .map((calls) => sendBatch(connection, calls, account)),
      ]);
      // These calls are the last in every partition: when they have arrived, no other call is in flight.
      const last = Array.from({ length: 16 }, (_, index) =>
        sentOf(
          { type: 'page', extras: {}, byAnonymousId: false, fault: null, way: 'direct' },
          `${run}-last-${index}`,
        ),
      );
      await Promise.all(last.map(publish));
      const arrivedUsers = (): string[] => receiver.requests.map(({ body }) => userOf(body));
      await receiver.waitFor(() => {
        const users = new Set(arrivedUsers());
        return last.every(({ id }) => users.has(id));
      });

      await rejected.refresh();
      const rejectedLater = rejected.items.slice(known);
      const rejectedDirect = new Set(
        rejectedLater
          .filter((record) => headerOf(record, 'origin-topic') !== undefined)
          .map(({ key }) => key?.toString()),
      );
      for (const call of direct)
        (rejectedDirect.has(call.id) ? account.rejectedLater : account.accepted).push(call);
      assert.equal(
        account.accepted.length + account.refused.length + account.rejectedLater.length,
        generated.length,
      );
      assert.equal(rejectedLater.length, account.rejectedLater.length);
      for (const record of rejectedLater) assertReason(record);
      for (const { fault, json } of account.accepted) assert.equal(fault, null, json.slice(0, 300));
      for (const { fault, json } of [...account.refused, ...account.rejectedLater]) {
        assert.notEqual(fault, null, json.slice(0, 300));
      }
      const wanted = [...account.accepted, ...last].map(({ id }) => id);
      await receiver.waitFor(wanted.length);
      assert.deepEqual(arrivedUsers().sort(), wanted.sort());
    }),
    { numRuns: 4, endOnFailure: true },
  );
});

function assertReason(record: ConsumedRecord): void {
  assert.ok(headerOf(record, 'error-code'));
  assert.match(headerOf(record, 'error-message') ?? '', /^[A-Za-z].*\.$/);
}
