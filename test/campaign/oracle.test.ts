/** Each violation is planted into facts that have none, and must be found, alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sign } from '@tailrace/signing';
import { bodyOf, callOf } from '../support/oracle/calls.ts';
import { owedTo, type Entry } from '../support/oracle/ledger.ts';
import type { Disruption, Trail } from '../support/oracle/repeats.ts';
import type { Change, Deletion, Facts, Send, Written } from './facts.ts';
import { judgeCampaign } from './oracle.ts';

const users = 2;
const start = Date.UTC(2026, 10, 26);
const secrets = [
  { secret: 'first-secret', set: asked(0) },
  { secret: 'second-secret', set: asked(500_000) },
];
const destinations = ['plain', 'ordered'].map((id) => ({
  id,
  source: 'web',
  ordered: id === 'ordered',
  steady: id === 'plain',
  secrets,
}));

function asked(at: number): { readonly askedAt: number; readonly answeredAt: number } {
  return { askedAt: start + at, answeredAt: start + at + 100 };
}

/** A request, and its end. */
function request(
  number: number,
  destinationId: string,
  at: number,
  end: Entry['what'] = 'delivered',
): Entry[] {
  const body = bodyOf(callOf(number, users));
  const signature = sign('first-secret', body);
  const entry = { eventId: `event-${number}`, destinationId, askedAt: start + at, body, signature };
  return [
    { ...entry, what: 'asked', at: start + at },
    { ...entry, what: end, at: start + at + 10 },
  ];
}

interface Plot {
  readonly sends: Send[];
  readonly entries: Entry[];
  readonly written: Written[];
  readonly changes: Change[];
  readonly deletions: Deletion[];
  readonly disruptions: Disruption[];
  readonly routerDisruptions: Disruption[];
}

const count = 6;

/** One call a second, which arrives 50 ms later at both destinations. */
function plot(): Plot {
  const numbers = Array.from({ length: count }, (_, number) => number);
  return {
    sends: numbers.map((number) => {
      const askedAt = start + number * 1_000;
      return { number, source: 'web', call: callOf(number, users), askedAt, acceptedAt: askedAt + 10 };
    }),
    entries: numbers.flatMap((number) =>
      destinations.flatMap(({ id }) => request(number, id, number * 1_000 + 50)),
    ),
    written: numbers.flatMap((number) =>
      destinations.map(({ id }) => written(number, id, number, number * 1_000 + 20)),
    ),
    changes: [],
    deletions: [],
    disruptions: [],
    routerDisruptions: [],
  };
}

function written(number: number, destinationId: string, offset: number, at: number): Written {
  return {
    eventId: `event-${number}`,
    destinationId,
    partition: 0,
    offset,
    eventPartition: 0,
    at: start + at,
  };
}

/** The facts, with the trails that follow from them. */
function factsOf(plot: Plot, more: Partial<Facts> = {}): Facts {
  const trails = [...Map.groupBy(plot.written, owedTo)].map(([delivery, records]): Trail => {
    const its = plot.entries.filter((entry) => owedTo(entry) === delivery);
    const times = (what: Entry['what']): number[] =>
      its.filter((one) => one.what === what).map((one) => one.askedAt);
    const common = { delivery, partition: 0, written: records.length, attempts: [] };
    return { ...common, delivered: times('delivered'), died: times('dead'), traces: its.map(({ at }) => at) };
  });
  const none = { decisions: [], calls: [], episodes: [], explanations: [], readings: [], crashes: [] };
  return { ...none, destinations, trails, ...plot, ...more };
}

/** The violations as `rule: sentence`. */
function found(plot: Plot, more: Partial<Facts> = {}): string[] {
  return judgeCampaign(factsOf(plot, more)).violations.map(({ rule, says }) => `${rule}: ${says}`);
}

const isOf =
  (number: number, destinationId: string) =>
  (one: { readonly eventId: string; readonly destinationId: string }): boolean =>
    one.eventId === `event-${number}` && one.destinationId === destinationId;

function without(plot: Plot, number: number, destinationId: string): Plot {
  const isIt = isOf(number, destinationId);
  return { ...plot, entries: plot.entries.filter((entry) => !isIt(entry)) };
}

test('facts of a campaign in which all promises hold have no violation', () => {
  assert.deepEqual(found(plot()), []);
});

test('an event that reached one destination and not the other is lost there, unless the router decided so', () => {
  const planted = without(plot(), 2, 'plain');
  assert.deepEqual(found(planted), [
    'lost: event-2 at plain was accepted and is in deliveries, and has neither arrived nor become a dead letter',
  ]);
  const unrouted = { ...planted, written: planted.written.filter((one) => !isOf(2, 'plain')(one)) };
  assert.match(found(unrouted).join(), /^lost: event-2 at plain was accepted and was not routed/);
  const unaccepted = plot().sends.map((send) =>
    send.number === 2 ? { ...send, acceptedAt: undefined } : send,
  );
  assert.deepEqual(found({ ...unrouted, sends: unaccepted as Send[] }), []);
  const changes: Change[] = [
    { destinationId: 'plain', what: 'disabled', begin: asked(1_500), end: asked(3_000) },
  ];
  const decisions = [{ eventId: 'event-2', destinationId: 'plain', reason: 'disabled', at: start + 2_020 }];
  assert.deepEqual(found({ ...unrouted, changes }, { decisions }), []);
});

test('one changed byte is found', () => {
  const planted = plot();
  const at = planted.entries.findIndex((one) => isOf(1, 'plain')(one));
  for (const entry of planted.entries.slice(at, at + 2)) {
    const body = Buffer.from(String(entry.body).replace('Größe', 'Grösse'));
    Object.assign(entry, { body, signature: sign('first-secret', body) });
  }
  const [altered, lost, ...others] = found(planted);
  assert.match(altered ?? '', /^lost: event-1 at plain/);
  assert.match(lost ?? '', /^altered: event-1 at plain was delivered as .*Grösse.*, not as .*Größe/);
  assert.deepEqual(others, []);
});

test('an event that was never sent is found', () => {
  const planted = plot();
  planted.entries.push(...request(17, 'plain', 9_000));
  assert.deepEqual(found(planted), ['never sent: event-17 at plain was delivered and never sent']);
});

test('a missing signature, and one of another secret or of one that was replaced, is found', () => {
  const body = bodyOf(callOf(3, users));
  for (const signature of [undefined, sign('another-secret', body), sign('second-secret', body)]) {
    const planted = plot();
    const entry = planted.entries.find(isOf(3, 'ordered'));
    Object.assign(entry ?? {}, { signature });
    const [only, ...others] = found(planted);
    assert.match(only ?? '', /^badly signed: event-3 at ordered/);
    assert.deepEqual(others, []);
  }
  const late = plot();
  late.entries.push(...request(0, 'plain', 503_000));
  late.disruptions.push({ kind: 'killed', partitions: new Set([0]), from: start, until: start + 1_000 });
  assert.match(found(late).join(), /^badly signed: event-0 at plain/);
});

test('a request after the two seconds of a pause is found', () => {
  const changes = (at: number): Change[] => [
    { destinationId: 'plain', what: 'paused', begin: asked(at), end: asked(100_000) },
  ];
  assert.deepEqual(found({ ...plot(), changes: changes(2_850) }), [
    'sent while off: event-5 at plain was sent 2100 ms after it was paused',
  ]);
  assert.deepEqual(found({ ...plot(), changes: changes(3_000) }), []);
  // A replica that was frozen at the time of the pause learns of it when it runs again.
  const fault = { id: 1, kind: 'service frozen', target: 'delivery-1', atMs: 0, durationMs: 0 } as const;
  const frozen = (endedAt: number) => [{ fault, beganAt: start, endedAt: start + endedAt, settledAt: start }];
  assert.deepEqual(found({ ...plot(), changes: changes(2_850) }, { episodes: frozen(3_100) }), []);
  assert.equal(found({ ...plot(), changes: changes(2_850) }, { episodes: frozen(2_900) }).length, 1);
});

test('an earlier event that is sent to a deleted user is found, and a destination that was not told', () => {
  const planted = plot();
  planted.deletions.push({ userId: 'user-1', ...asked(3_500) });
  const toldTo = (id: string): Entry[] =>
    request(0, id, 3_600).map((entry) => {
      const body = Buffer.from('{"type":"delete","userId":"user-1","timestamp":"2026-11-26T00:00:03.500Z"}');
      return { ...entry, eventId: 'deletion of user-1', body, signature: sign('first-secret', body) };
    });
  planted.entries.push(...toldTo('plain'));
  assert.deepEqual(found(planted), [
    'deletion not announced: ordered was not told of the deletion of user-1',
  ]);
  planted.entries.push(...toldTo('ordered'));
  // Event 5 is of the same user, and was sent after the answer.
  assert.deepEqual(found(planted), []);
  planted.entries.push(...request(3, 'plain', 9_000));
  planted.disruptions.push({
    kind: 'killed',
    partitions: new Set([0]),
    from: start + 3_100,
    until: start + 3_100,
  });
  assert.deepEqual(found(planted), [
    'sent after deletion: event-3 at plain was sent 5400 ms after the deletion of user-1 was answered',
  ]);
});

test('an event that overtakes an earlier one of its user is found where order is promised', () => {
  const late = (id: string): Plot => {
    const planted = without(plot(), 2, id);
    planted.entries.push(...request(2, id, 4_500));
    return planted;
  };
  assert.deepEqual(found(late('plain')), []);
  assert.deepEqual(found(late('ordered')), [
    'out of order: event-4 at ordered was sent at 00:00:04.050, before event-2 had ended',
  ]);
  const planted = plot();
  const [second, fourth] = [2, 4].map((number) => planted.written.find(isOf(number, 'plain')));
  Object.assign(second ?? {}, { offset: 4 });
  Object.assign(fourth ?? {}, { offset: 2 });
  assert.deepEqual(found(planted), [
    'out of order: event-2 at plain was routed after event-4, and accepted before',
  ]);
  // Partitions were added to `events` between the two.
  Object.assign(fourth ?? {}, { eventPartition: 1 });
  assert.deepEqual(found(planted), []);
});

test('an earlier event may have died before by a clock that was ahead', () => {
  const planted = without(plot(), 2, 'ordered');
  const hour = 3_600_000;
  const [, died] = request(2, 'ordered', 2_060 + hour, 'dead');
  assert.ok(died);
  planted.entries.push(...request(2, 'ordered', 2_050, 'failed'), { ...died, reason: 'window-exceeded' });
  const order = 'out of order: event-4 at ordered was sent at 00:00:04.050, before event-2 had ended';
  assert.deepEqual(found(planted), [order]);
  const fault = {
    id: 2,
    kind: 'clock jumped',
    target: 'delivery-1',
    atMs: 1_000,
    durationMs: 3_000,
  } as const;
  const jumped = { fault, beganAt: start + 1_000, endedAt: start + 4_000, settledAt: start + 4_000 };
  assert.deepEqual(found(planted, { episodes: [jumped] }), []);
});

test('an event that is routed again to an added partition may overtake there', () => {
  const planted = plot();
  const isLate = isOf(2, 'ordered');
  const late = planted.entries.filter((entry) => !isLate(entry));
  const moved = written(4, 'ordered', 0, 4_020);
  const records = [...planted.written, { ...moved, partition: 1 }];
  const routerDisruptions: Disruption[] = [
    { kind: 'moved', partitions: new Set([0]), from: start + 4_000, until: start + 4_100 },
  ];
  const entries = [...late, ...request(2, 'ordered', 4_500)];
  assert.deepEqual(found({ ...planted, entries, written: records, routerDisruptions }), []);
});

test('a repeated call that is routed again from another partition of `events` needs no other cause', () => {
  const planted = plot();
  const again = { ...written(3, 'plain', 20, 9_000), eventPartition: 1 };
  planted.written.push(again);
  assert.deepEqual(found(planted), []);
});

test('a repeat without a cause is found, of a request and of a routed event', () => {
  const planted = plot();
  planted.entries.push(...request(1, 'plain', 9_000));
  assert.match(found(planted).join(), /^repeated without cause: event-1 at plain arrived at/);
  planted.disruptions.push({
    kind: 'killed',
    partitions: new Set([0]),
    from: start + 1_500,
    until: start + 1_500,
  });
  assert.deepEqual(found(planted), []);
  assert.equal(judgeCampaign(factsOf(planted)).repeats.killed, 1);

  const routed = plot();
  routed.written.push(written(1, 'plain', 90, 9_000));
  assert.deepEqual(found(routed), [
    'repeated without cause: event-1 at plain was routed at 00:00:01.020 and at 00:00:09.000',
  ]);
  routed.routerDisruptions.push({
    kind: 'killed',
    partitions: new Set(),
    from: start + 1_500,
    until: start + 1_500,
  });
  assert.deepEqual(found(routed), []);
});

test('an event may be routed again by a clock that is behind', () => {
  const planted = plot();
  const hour = 3_600_000;
  planted.written.push(written(1, 'plain', 90, 9_000 - hour));
  planted.routerDisruptions.push({
    kind: 'moved',
    partitions: new Set([0]),
    from: start + 1_030,
    until: start + 1_500,
  });
  const fault = { id: 3, kind: 'clock jumped', target: 'router-1', atMs: 8_000, durationMs: 3_000 } as const;
  const jumped = { fault, beganAt: start + 8_000, endedAt: start + 11_000, settledAt: start + 11_000 };
  assert.deepEqual(found(planted, { episodes: [jumped] }), []);
});

test('a dead letter and a decision with a reason that is not true are found', () => {
  const planted = without(plot(), 1, 'plain');
  const [, dead] = request(1, 'plain', 1_050, 'dead');
  assert.ok(dead);
  planted.entries.push({ ...dead, reason: 'attempts-exhausted' });
  assert.deepEqual(found(planted), [
    'wrong reason: event-1 at plain is a dead letter with the reason attempts-exhausted',
  ]);
  planted.entries.push(...request(1, 'plain', 1_040, 'failed'));
  assert.deepEqual(found(planted), []);
  const decisions = [{ eventId: 'event-1', destinationId: 'plain', reason: 'disabled', at: start + 1_020 }];
  assert.deepEqual(found(plot(), { decisions }), [
    'wrong reason: event-1 at plain was decided against at 00:00:01.020 with the reason disabled',
  ]);
});

test('an event that is routed although a filter excludes it is found', () => {
  const changes: Change[] = [
    { destinationId: 'plain', what: 'filtered', begin: asked(2_000), end: asked(5_500) },
  ];
  assert.deepEqual(found({ ...plot(), changes }), [
    'routed past the filter: event-5 at plain was routed at 00:00:05.020',
  ]);
});

test('an attempt after the window, a wrong explanation and a crash are found', () => {
  const planted = plot();
  const late = request(1, 'plain', 1_050 + 4 * 3_600_000 + 1);
  for (const entry of late) Object.assign(entry, { signature: sign('second-secret', entry.body) });
  planted.entries.push(...late);
  planted.disruptions.push({
    kind: 'killed',
    partitions: new Set([0]),
    from: start + 1_500,
    until: start + 1_500,
  });
  assert.deepEqual(found(planted), [
    'too late: event-1 at plain was sent 14400001 ms after its first attempt',
  ]);
  const explanations = [
    { eventId: 'event-1', outcome: 'routed', ends: { plain: 'delivered', ordered: 'dead' } },
  ];
  assert.deepEqual(found(plot(), { explanations }), [
    'wrong explanation: event-1 at ordered is dead in the API',
  ]);
  assert.deepEqual(found(plot(), { crashes: ['router-1 ended by itself'] }), [
    'crashed: router-1 ended by itself',
  ]);
});

test('a count that is not what happened is found', () => {
  const series = [{ name: 'tailrace_deliveries_created_total', labels: {}, value: count * 2 + 1 }];
  const reading = { service: 'router', series, from: start + 60_000, until: start + 60_000, isIdle: false };
  const says = found(plot(), { readings: [reading] });
  assert.equal(says[1], 'wrong count: tailrace_deliveries_created_total is 13, and 12 happened');
});
