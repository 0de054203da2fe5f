/** The client without a network: middleware, counts, and reports of calls that age. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { nodePlatform } from '../node/platform.ts';
import { Client } from './analytics.ts';
import type { AnalyticsError } from './errors.ts';
import type { Middleware } from './messages.ts';
import type { CommonOptions } from './options.ts';
import { maxBatchBytes, maxBatchCalls, type Outcome } from './transport.ts';

type Sent = Readonly<Record<string, unknown>>;

/** A client whose attempts have these outcomes; the last one repeats. */
function open(
  options: Partial<CommonOptions>,
  outcomes: readonly Outcome[] = [{ kind: 'sent', rejected: [] }],
  write: (line: string) => void = nodePlatform.write,
) {
  const batches: (readonly Sent[])[] = [];
  const reports: AnalyticsError[] = [];
  const client = new Client(
    { writeKey: 'wk', onError: (error) => reports.push(error), ...options },
    {
      platform: { ...nodePlatform, write },
      transport: {
        limits: { bytes: maxBatchBytes, calls: maxBatchCalls },
        timeoutMs: 10_000,
        send: (calls) => {
          batches.push(calls.map(({ json }) => JSON.parse(json) as Sent));
          return Promise.resolve(outcomes[Math.min(batches.length, outcomes.length) - 1] ?? assert.fail());
        },
        close: () => undefined,
      },
    },
  );
  return { client, batches, reports };
}

test('middleware changes calls in order, and drops those for which it returns null', async () => {
  const seen: string[] = [];
  const middleware: Middleware[] = [
    (call) => {
      seen.push(`${call.type} ${call.event ?? ''}`);
      return call.event === 'secret' ? null : call;
    },
    (call) => ({ ...call, context: { ...call.context, region: 'eu' } }),
    (call) => {
      call.userId = `hashed-${call.userId ?? ''}`;
      return call;
    },
  ];
  const { client, batches } = open({ middleware });
  const message = Object.freeze({ userId: 'ada', event: 'shown', context: Object.freeze({ ip: '::1' }) });
  assert.equal(client.track(message), true);
  assert.equal(client.track({ userId: 'ada', event: 'secret' }), true);
  assert.equal(client.identify({ userId: 'ada' }), true);
  assert.deepEqual(await client.close(), { unsent: 0, kept: 0 });
  assert.deepEqual(seen, ['track shown', 'track secret', 'identify ']);
  assert.deepEqual(
    batches.flat().map(({ type, userId, context }) => ({ type, userId, context })),
    [
      { type: 'track', userId: 'hashed-ada', context: { ip: '::1', region: 'eu' } },
      { type: 'identify', userId: 'hashed-ada', context: { region: 'eu' } },
    ],
  );
  assert.deepEqual(client.stats(), { queued: 0, sent: 2, unsent: 0, dropped: 1 });
});

test('a call whose middleware throws is not sent, and the call throws', async () => {
  const broken: Middleware = () => {
    throw new Error('no redaction');
  };
  const { client, batches } = open({ middleware: [broken] });
  assert.throws(() => client.track({ userId: 'ada', event: 'E' }), {
    code: 'invalid-message',
    message: /no redaction/,
  });
  await client.close();
  assert.deepEqual(batches, []);
});

test('a call that middleware makes invalid is refused', () => {
  const { client } = open({ middleware: [(call) => ({ ...call, event: '' })] });
  assert.throws(() => client.track({ userId: 'ada', event: 'E' }), {
    code: 'invalid-message',
    field: 'event',
  });
});

test('a call during which the client is closed is refused, and not lost', async () => {
  const closing: Middleware = (call) => {
    void client.close();
    return call;
  };
  const { client, batches } = open({ middleware: [closing] });
  assert.throws(() => client.track({ userId: 'ada', event: 'E' }), { code: 'closed' });
  assert.deepEqual(await client.close(), { unsent: 0, kept: 0 });
  assert.deepEqual([client.stats().queued, batches], [0, []]);
});

test('15.2 a batch is sent when 20 calls are queued, or 5 seconds after the first of them', async () => {
  using time = simulateTime();
  const track = (client: Client, count: number): void => {
    for (let n = 0; n < count; n++) client.track({ userId: 'ada', event: 'E' });
  };
  const { client, batches } = open({});
  const sizes = (): number[] => batches.map(({ length }) => length);
  track(client, 20);
  await time.pass(1);
  assert.deepEqual(sizes(), [20]);
  await time.pass(3_000);
  track(client, 1);
  await time.pass(3_000);
  track(client, 18);
  await time.pass(1_999);
  assert.deepEqual(sizes(), [20]);
  await time.pass(1);
  assert.deepEqual(sizes(), [20, 19]);
  await time.settled(client.close());

  const single = open({ flushAt: 1 });
  track(single.client, 3);
  await time.pass(1);
  assert.deepEqual(
    single.batches.map(({ length }) => length),
    [1, 1, 1],
  );
  await time.settled(single.client.close());
});

test('15.3 a call is checked when it is made, and queued calls are sent in requests of at most 500 KB', async () => {
  const { client, batches } = open({ flushAt: 100 });
  const text = (length: number): object => ({ properties: { text: 'x'.repeat(length) } });
  const ids = { userId: 'ada', messageId: 'm-1', timestamp: '2026-11-21T12:00:00.000Z' };
  const call = { ...ids, event: 'E', ...text(0) };
  // A time that the program sets is not corrected (15.7).
  const most = 32 * 1_024 - JSON.stringify({ type: 'track', ...call, sentAt: null }).length;
  assert.throws(() => client.track({ ...call, ...text(most + 1) }), { code: 'message-too-large' });
  const incomplete: readonly (() => unknown)[] = [
    () => client.track({ ...ids, event: '' }),
    () => client.identify({ userId: '' }),
    () => client.group({ ...ids, groupId: '' }),
    () => client.alias({ ...ids, previousId: '' }),
  ];
  for (const make of incomplete) assert.throws(make, { code: 'invalid-message' });
  for (let n = 0; n < 40; n++) client.track({ ...call, ...text(most) });
  assert.deepEqual(await client.close(), { unsent: 0, kept: 0 });
  assert.deepEqual(
    batches.map(({ length }) => length),
    [15, 15, 10],
  );
  for (const batch of batches) assert.ok(JSON.stringify({ batch }).length <= 500 * 1_024);
});

test('a call that fails beyond maxAgeMs is reported as expired, and later calls are tried', async () => {
  using time = simulateTime();
  const failed: Outcome = { kind: 'failed', status: 503, reason: 'no' };
  const { client, batches, reports } = open({ maxAgeMs: 20, flushAt: 1 }, [
    failed,
    failed,
    { kind: 'sent', rejected: [] },
  ]);
  client.track({ userId: 'ada', event: 'old' });
  await time.pass(30);
  client.track({ userId: 'ada', event: 'new' });
  await time.settled(client.flush());
  assert.deepEqual(
    reports.map(({ code, status, calls }) => [code, status, calls.length]),
    [['expired', 503, 1]],
  );
  assert.match(reports[0]?.calls[0] ?? '', /"event":"old"/);
  assert.equal(batches.at(-1)?.[0]?.['event'], 'new');
  assert.deepEqual(await client.close(), { unsent: 1, kept: 0 });
});

test('15.6 rejected calls of an accepted batch count as unsent, and the others as sent', async () => {
  const rejected = [{ index: 1, reason: 'wrong' }];
  const { client, reports } = open({}, [{ kind: 'sent', status: 200, rejected }]);
  for (const event of ['a', 'b', 'c']) client.track({ userId: 'ada', event });
  assert.deepEqual(await client.close(), { unsent: 1, kept: 0 });
  assert.deepEqual(client.stats(), { queued: 0, sent: 2, unsent: 1, dropped: 0 });
  assert.match(reports[0]?.message ?? '', /rejected: wrong/);
});

test('from the fifth failure in a row without a reason to wait, batches become smaller', async () => {
  const unexplained: Outcome = { kind: 'failed', status: 500, reason: 'no' };
  const busy: Outcome = { ...unexplained, status: 503, afterMs: 1 };
  const sent: Outcome = { kind: 'sent', rejected: [] };
  const sizesAfter = async (failed: Outcome): Promise<number[]> => {
    const { client, batches } = open({}, [failed, failed, failed, failed, failed, sent]);
    for (const event of ['a', 'b', 'c', 'd']) client.track({ userId: 'ada', event });
    assert.deepEqual(await client.close({ deadlineMs: 60_000 }), { unsent: 0, kept: 0 });
    return batches.map(({ length }) => length);
  };
  assert.deepEqual(await sizesAfter(unexplained), [4, 4, 4, 4, 4, 2, 2]);
  assert.deepEqual(await sizesAfter(busy), [4, 4, 4, 4, 4, 4]);
});

test('onError may close the client, flush it and make calls, and nothing waits for itself', async () => {
  const refused: Outcome = { kind: 'refused', status: 401, reason: 'no' };
  const lines: string[] = [];
  const seen: string[] = [];
  const { client } = open(
    {
      maxQueueSize: 1,
      onError: ({ code }) => {
        seen.push(code);
        void client.flush();
        // The queue is full: reported in turn, these calls would never end.
        client.track({ userId: 'ada', event: 'reported' });
      },
    },
    [refused],
    (line) => lines.push(line),
  );
  assert.equal(client.track({ userId: 'ada', event: 'a' }), true);
  assert.equal(client.track({ userId: 'ada', event: 'b' }), false);
  assert.deepEqual(seen, ['queue-full']);
  assert.match(lines[0] ?? '', /onError failed: .*queue is full/);
  assert.deepEqual(client.stats(), { queued: 1, sent: 0, unsent: 1, dropped: 0 });

  const closing = open({ flushAt: 1, onError: () => void closing.client.close() }, [refused]);
  closing.client.track({ userId: 'ada', event: 'a' });
  await closing.client.flush();
  assert.deepEqual(await closing.client.close(), { unsent: 1, kept: 0 });
  await client.close();
});

test('an onError that throws or rejects stops nothing, and the developer sees it', async () => {
  const refused: Outcome = { kind: 'refused', status: 401, reason: 'no' };
  // The second as a caller may pass an async function.
  const handlers: readonly (() => void)[] = [
    () => {
      throw new Error('no disk');
    },
    (): unknown => Promise.reject(new Error('no disk')),
  ];
  for (const onError of handlers) {
    const lines: string[] = [];
    const { client } = open({ onError }, [refused], (line) => lines.push(line));
    client.track({ userId: 'ada', event: 'a' });
    assert.deepEqual(await client.close(), { unsent: 1, kept: 0 });
    assert.match(lines.join('\n'), /onError failed: .*no disk.* 1 call refused: no/);
  }
});
