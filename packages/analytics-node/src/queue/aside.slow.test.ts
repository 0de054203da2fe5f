/** Calls for which the server always fails, on simulated time, with a transport in the place of the server. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { simulateTime, type SimulatedTime } from '@tailrace/testing';
import { Client } from '../core/analytics.ts';
import type { AnalyticsError } from '../core/errors.ts';
import type { CommonOptions } from '../core/options.ts';
import type { Outcome } from '../core/transport.ts';
import { fileQueue } from '../file-queue/file-queue.ts';
import { nodePlatform } from '../node/platform.ts';
import { asideMs } from './retry.ts';

const minuteMs = 60_000;
const sent: Outcome = { kind: 'sent', rejected: [] };
const serverError: Outcome = { kind: 'failed', status: 500, reason: 'it failed', serverError: true };
const isBad = (event: string): boolean => event.startsWith('bad');

/** A client, and a server that answers with the outcome for the events of a request. */
function open(
  answer: (events: readonly string[], request: number) => Outcome,
  options: Partial<CommonOptions> & {
    readonly directory?: string;
    readonly failing?: { readonly time: SimulatedTime; readonly ms: number };
  } = {},
) {
  const reports: AnalyticsError[] = [];
  const taken: string[] = [];
  const requests: (readonly string[])[] = [];
  const { directory, failing, ...common } = options;
  const client = new Client(
    { writeKey: 'wk', onError: (error) => reports.push(error), ...common },
    {
      platform: nodePlatform,
      openStore: directory === undefined ? undefined : fileQueue({ directory, syncAfterMs: 0 }).open,
      transport: {
        limits: { bytes: 500_000, calls: 2_500 },
        timeoutMs: 10_000,
        send: (calls) => {
          const events = calls.map(({ json }) => (JSON.parse(json) as { event: string }).event);
          const outcome = answer(events, requests.push(events) - 1);
          if (outcome.kind === 'sent') taken.push(...events);
          if (outcome.kind === 'sent' || !failing) return Promise.resolve(outcome);
          return failing.time.after(failing.ms, outcome);
        },
        close: () => undefined,
      },
    },
  );
  const track = (...events: readonly string[]): void => {
    for (const event of events) client.track({ userId: 'ada', event });
  };
  return { client, reports, taken, requests, track };
}

const failsForBad = (events: readonly string[]): Outcome => (events.some(isBad) ? serverError : sent);
const numbered = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, n) => `e${n + from}`);
const eventsOf = (reports: readonly AnalyticsError[]): string[] =>
  reports.flatMap(({ calls }) => calls.map((call) => (JSON.parse(call) as { event: string }).event));
const noneAside = { queued: 0, dropped: 0 };

/** Makes a call every ten seconds until the condition holds. */
async function untilWithCalls(
  time: SimulatedTime,
  track: (event: string) => void,
  holds: () => boolean,
): Promise<number> {
  let calls = 0;
  while (!holds()) {
    track(`later ${calls++}`);
    await time.pass(10_000);
  }
  return calls;
}

test('15.1 15.4 a call that the server always answers with 500 is overtaken by all others, which keep their order', async () => {
  using time = simulateTime();
  const { client, reports, taken, track } = open(failsForBad);
  track(...numbered(10), 'bad', ...numbered(9, 10));
  await time.pass(50);
  track(...numbered(100, 19));
  await time.until(() => taken.length === 119);
  assert.deepEqual(taken, numbered(119));
  assert.deepEqual(reports, []);
  assert.deepEqual(client.stats(), { ...noneAside, queued: 1, sent: 119, unsent: 0 });
  await time.settled(client.close({ deadlineMs: 0 }));
  assert.deepEqual(eventsOf(reports), ['bad']);
});

test('15.4 it is reported as refused, once, after 20 refusals in at least 15 minutes in which others were taken', async () => {
  using time = simulateTime();
  const { client, reports, requests, track } = open(failsForBad);
  track('bad');
  const calls = await untilWithCalls(time, track, () => reports.length > 0);
  // One call each ten seconds.
  assert.ok(calls >= 15 * 6 && calls < 25 * 6, `${calls} calls`);
  // Twice twelve in a row.
  const alone = requests.filter(([event]) => event === 'bad').length;
  assert.ok(alone >= 23 + 22 && alone <= 40 + 22, `${alone} requests`);
  await time.settled(client.close());
  assert.deepEqual(
    reports.map(({ code, status, message }) => [code, status, message.replace(/\d+ times/, 'n times')]),
    [['refused', 500, '1 call refused n times alone, while others were taken: it failed']],
  );
  assert.deepEqual(client.stats(), { ...noneAside, sent: calls, unsent: 1 });
});

test('15.4 without other calls the server may be down, so it is reported after an hour', async () => {
  using time = simulateTime();
  const { reports, track, taken, client } = open(failsForBad);
  track('bad', 'other');
  await time.until(() => taken.length === 1);
  await time.pass(59 * minuteMs);
  assert.equal(reports.length, 0);
  await time.until(() => reports.length === 1);
  assert.deepEqual(
    reports.map(({ code, status }) => [code, status]),
    [['expired', 500]],
  );
  await client.close();
});

test('it is sent, and nothing is reported, where the server recovers', async () => {
  using time = simulateTime();
  let isBroken = true;
  const { client, reports, track, taken } = open((events) => (isBroken ? failsForBad(events) : sent));
  track('bad');
  for (let n = 0; n < 80; n++) {
    track(`later ${n}`);
    await time.pass(10_000);
  }
  isBroken = false;
  await time.settled(client.flush());
  assert.equal(taken.at(-1), 'bad');
  assert.deepEqual(reports, []);
  assert.deepEqual(await client.close(), { unsent: 0, kept: 0 });
});

test('15.4 a server that answers 500 to everything gets all calls in order when it is back, and nothing is aside', async () => {
  using time = simulateTime();
  let isDown = true;
  const { client, reports, track, taken, requests } = open(() => (isDown ? serverError : sent));
  track(...numbered(50));
  await time.pass(50 * minuteMs);
  // The pauses reach ten seconds, less up to a half. Each has an attempt and a probe, both of one call.
  assert.ok(requests.length < 2 * 650, `${requests.length} requests`);
  assert.deepEqual(requests[3], ['e0']);
  assert.equal(
    requests.slice(3).findIndex(({ length }) => length > 1),
    -1,
  );
  isDown = false;
  track(...numbered(50, 50));
  await time.settled(client.flush());
  assert.deepEqual(taken, numbered(100));
  assert.deepEqual(reports, []);
  assert.deepEqual(await client.close(), { unsent: 0, kept: 0 });
});

test('a server that goes down while a batch is split gets the rest in order, too', async () => {
  using time = simulateTime();
  let isDown = false;
  const { client, reports, track, taken, requests } = open((events) => {
    // After the first part was taken.
    if (requests.length === 5) isDown = true;
    return isDown ? serverError : failsForBad(events);
  });
  track(...numbered(8), 'bad', ...numbered(8, 8));
  await time.pass(20 * minuteMs);
  assert.deepEqual(taken, ['e0']);
  isDown = false;
  await time.until(() => taken.length === 16);
  assert.deepEqual(taken, numbered(16));
  await time.settled(client.close({ deadlineMs: 0 }));
  assert.deepEqual(eventsOf(reports), ['bad']);
});

test('a server that fails half of all requests, or four of five, for two hours loses nothing', async () => {
  for (const share of [0.5, 0.7, 0.8]) {
    using time = simulateTime();
    // A linear congruential generator: the same on each run.
    let state = 7;
    const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    const { client, reports, track, taken, requests } = open(() => (random() < share ? serverError : sent));
    for (let n = 0; n < 720; n++) {
      track(...numbered(30, n * 30));
      await time.pass(10_000);
    }
    await time.settled(client.flush());
    assert.deepEqual(reports, []);
    assert.deepEqual([...taken].sort(), numbered(21_600).sort());
    assert.ok(requests.length < 720 * 30, `${requests.length} requests`);
    await client.close();
  }
});

/** Servers that fail for some of all requests in a fixed order, `x`, and take the others. */
const periodic = ['.x', '..x', '....x', '.xx', '.xxx', '.xxxx', '.xxxxx', '.xxxxxxx', '.xxxxxxxxx', '.x.xx'];
/** Programs: how many calls they make in how many seconds, and how many clients do so at once. */
const programs: readonly (readonly [calls: number, seconds: number, clients: number])[] = [
  [30, 10, 1],
  [1, 1, 1],
  [1, 10, 1],
  [3, 60, 1],
  [30, 10, 3],
];

test('15.4 a server that fails for every second request, or takes every tenth only, loses nothing', async () => {
  for (const answers of periodic) {
    for (const [calls, seconds, count] of programs) {
      using time = simulateTime();
      let requests = 0;
      const answer = (): Outcome => (answers[requests++ % answers.length] === 'x' ? serverError : sent);
      const clients = Array.from({ length: count }, () => open(answer));
      let made = 0;
      while (made < (calls / seconds) * 5_400) {
        for (let n = 0; n < calls; n++) clients[n % count]?.track(`e${made++}`);
        await time.pass(seconds * 1_000);
      }
      for (const { client } of clients) await time.settled(client.close({ deadlineMs: 60 * minuteMs }));
      const what = `${answers}, ${count} clients with ${calls} calls in ${seconds} s, ${requests} requests`;
      assert.deepEqual(
        clients.flatMap(({ reports }) => eventsOf(reports)),
        [],
        what,
      );
      assert.equal(new Set(clients.flatMap(({ taken }) => taken)).size, made, what);
    }
  }
});

test('after a short outage, a call that always fails holds up the others once only', async () => {
  using time = simulateTime();
  let isDown = true;
  const { client, taken, requests, track } = open((events) => (isDown ? serverError : failsForBad(events)));
  track('e0');
  await time.until(() => requests.length === 9);
  isDown = false;
  await time.until(() => taken.length === 1);
  for (let n = 1; n < 4; n++) {
    const before = requests.length;
    track(`bad ${n}`, `e${n}`);
    await time.until(() => taken.length === n + 1);
    const sizes = requests.slice(before).filter((events) => events.includes(`bad ${n}`));
    assert.equal(sizes.findIndex(({ length }) => length === 1) < 4, n > 1);
  }
  await time.settled(client.close({ deadlineMs: 0 }));
});

test('after a call aside was taken, the others are tried together, and then in parts', async () => {
  using time = simulateTime();
  const good = new Set<string>();
  const { client, track, taken, requests, reports } = open((events) =>
    events.every((event) => !isBad(event) || good.has(event)) ? sent : serverError,
  );
  for (let n = 0; n < 8; n++) {
    track(`bad ${n}`, 'other');
    await time.until(() => taken.length === n + 1);
  }
  for (let n = 0; n < 7; n++) good.add(`bad ${n}`);
  const before = requests.length;
  await time.until(() => taken.length === 8 + 7);
  const sizes = requests.slice(before).map(({ length }) => length);
  assert.ok(sizes.includes(7) && sizes.includes(4), String(sizes));
  assert.ok(sizes.length < 12, String(sizes));
  assert.equal(client.stats().queued, 1);
  assert.deepEqual(reports, []);
  await time.settled(client.close({ deadlineMs: 0 }));
  assert.deepEqual(eventsOf(reports), ['bad 7']);
});

test('a call that fails is not given up because those that are tried behind it are refused', async () => {
  using time = simulateTime();
  const { client, track, reports } = open((events) =>
    isBad(events[0] ?? '') ? serverError : { kind: 'refused', status: 400, reason: 'no', divisible: true },
  );
  track('bad', ...numbered(40));
  await time.pass(10 * minuteMs);
  assert.deepEqual(eventsOf(reports).sort(), numbered(40).sort());
  assert.equal(client.stats().queued, 1);
  await time.settled(client.close({ deadlineMs: 0 }));
});

test('many calls aside that fail slowly do not hold up the others', async () => {
  using time = simulateTime();
  const { client, track, taken } = open(failsForBad, { failing: { time, ms: 4_000 } });
  for (let n = 0; n < 40; n++) {
    track(`bad ${n}`, `e${n}`);
    await time.until(() => taken.length === n + 1);
  }
  for (let n = 40; n < 100; n++) {
    track(`e${n}`);
    await time.pass(20_000);
    assert.equal(taken.length, n + 1);
  }
  await time.settled(client.close({ deadlineMs: 0 }));
});

test('1,000 bad calls among 100,000 hold up none of the others, in a bounded number of requests', async () => {
  using time = simulateTime();
  const { client, reports, track, taken, requests } = open(failsForBad);
  let mostQueued = 0;
  for (let n = 0; n < 100; n++) {
    for (let m = 0; m < 1_000; m++) {
      if (client.stats().queued === 10_000) await time.until(() => client.stats().queued < 9_000);
      track(m % 100 === 50 ? `bad ${n} ${m}` : `e${n * 1_000 + m}`);
    }
    mostQueued = Math.max(mostQueued, client.stats().queued);
  }
  await time.until(() => taken.length === 99_000);
  assert.equal(new Set(taken).size, 99_000);
  assert.ok(mostQueued <= 10_000);
  const inTheirOrder = taken.map((event) => Number(event.slice(1)));
  const overtaken = inTheirOrder.filter((n, index) => n < (inTheirOrder[index - 1] ?? 0)).length;
  assert.ok(overtaken < 10, `${overtaken} calls were overtaken`);
  // Halving 2,500 calls with a bad one takes at most 2 · 12 requests, and a few to find that the server is up.
  assert.ok(requests.length < 25 * 1_000, `${requests.length} requests`);
  const before = requests.length;
  await time.pass(10 * minuteMs);
  // One request a second, and eleven more after a third refusal.
  assert.ok(requests.length - before <= 600 + 11 * 600, `${requests.length - before} requests`);
  await time.until(() => client.stats().queued === 0);
  assert.equal(new Set(eventsOf(reports)).size, 1_000);
  assert.equal(reports.length, 1_000);
  await client.close();
});

test('15.4 at most half of the queue is aside, and then a bad call waits in its place', async () => {
  using time = simulateTime();
  const { client, track, taken } = open(failsForBad, { maxQueueSize: 10, flushAt: 1 });
  for (let n = 0; n < 7; n++) {
    track(`bad ${n}`, `e${n}`);
    await time.pass(minuteMs);
  }
  assert.deepEqual(taken.slice(0, 6), numbered(6));
  // Five are aside, and the sixth holds up the seventh, except for probes.
  assert.deepEqual(client.stats().queued, 7);
  await time.settled(client.close({ deadlineMs: 0 }));
});

test('flush waits for the calls aside that were made before it, and not for later ones', async () => {
  using time = simulateTime();
  let isBroken = true;
  const { client, track, taken } = open((events) =>
    isBroken || events.includes('bad later') ? failsForBad(events) : sent,
  );
  track('bad', ...numbered(20));
  await time.until(() => taken.length === 20);
  let isFlushed = false;
  const flushed = client.flush().then(() => {
    isFlushed = true;
  });
  track('bad later', ...numbered(40, 20));
  await time.until(() => taken.length === 60);
  assert.equal(isFlushed, false);
  isBroken = false;
  await time.settled(flushed);
  assert.equal(taken.at(-1), 'bad');
  assert.equal(client.stats().queued, 1);
  await time.settled(client.close({ deadlineMs: 0 }));
});

function folder(t: TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'tailrace-aside-'));
  t.after(() => {
    rmSync(directory, { recursive: true });
  });
  return directory;
}

test('the file queue keeps a call aside for the next start, and no call that was sent', async (t) => {
  const directory = folder(t);
  using time = simulateTime();
  const first = open(failsForBad, { directory });
  first.track('e0', 'bad', ...numbered(50, 1));
  await time.until(() => first.taken.length === 51);
  assert.deepEqual(await time.settled(first.client.close({ deadlineMs: 0 })), { unsent: 0, kept: 1 });
  const second = open(() => sent, { directory });
  await time.settled(second.client.flush());
  assert.deepEqual(second.taken, ['bad']);
  await second.client.close();
});

test('in any order of failures each call is sent or reported, once', async () => {
  const anyOutcome = fc.constantFrom<Outcome>(
    ...([sent, sent, serverError, serverError, serverError] as const),
    ...([
      { kind: 'failed', reason: 'no connection' },
      { kind: 'failed', status: 503, reason: 'busy', afterMs: 1_000 },
      { kind: 'failed', status: 408, reason: 'slow', slow: true },
      { kind: 'refused', status: 400, reason: 'no', divisible: true },
    ] as const),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyOutcome, { maxLength: 60 }),
      fc.array(fc.nat(3), { maxLength: 40 }),
      fc.constantFrom(1, 5, 20),
      fc.boolean(),
      async (outcomes, kinds, flushAt, isFailing) => {
        using time = simulateTime();
        // `taken` has also the calls of requests that the test answers itself.
        const answer = (events: readonly string[], request: number): Outcome =>
          outcomes[request] ?? (isFailing ? failsForBad(events) : sent);
        const { client, reports, taken, track } = open(answer, { flushAt });
        const events = kinds.map((kind, n) => (kind === 0 ? `bad ${n}` : `e${n}`));
        for (const [n, event] of events.entries()) {
          track(event);
          if (n % 7 === 0) await time.pass(300);
        }
        await time.settled(client.close({ deadlineMs: 100_000 }));
        const ended = [...taken, ...eventsOf(reports)];
        assert.deepEqual(ended.sort(), [...events].sort());
        assert.deepEqual(client.stats().queued, 0);
      },
    ),
    { numRuns: 150 },
  );
});

test('15.4 the pause of a call aside doubles from a second to a minute, less up to a half', () => {
  const longest = [1, 2, 3, 6, 7, 1_000].map((attempts) => asideMs(attempts, () => 0));
  assert.deepEqual(longest, [1_000, 2_000, 4_000, 32_000, 60_000, 60_000]);
  assert.equal(
    asideMs(1, () => 0.5),
    750,
  );
});
