import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Series } from '../support/metrics/scrape.ts';
import type { Entry } from '../support/oracle/ledger.ts';
import { wrongCounts } from './counts.ts';
import type { Facts, Reading } from './facts.ts';

const overAt = 100_000;
const destinations = ['plain', 'other'];

function seriesOf(counts: Readonly<Record<string, number>>): Series[] {
  return Object.entries(counts).map(([text, value]) => {
    const [name = '', label = '', of = ''] = text.split(' ');
    return { name: `tailrace_${name}`, labels: label === '' ? {} : { [label]: of }, value };
  });
}

function reading(service: string, counts: Readonly<Record<string, number>>, more: Partial<Reading> = {}) {
  return { service, series: seriesOf(counts), from: overAt, until: overAt, isIdle: true, ...more };
}

function entry(what: Entry['what'], number: number, destinationId: string, at: number): Entry {
  return { what, eventId: `event-${number}`, destinationId, at, askedAt: at, body: Buffer.alloc(0) };
}

/** Three events, one a second. The second one dies at `other`. */
const numbers = [0, 1, 2];
const facts: Facts = {
  sends: [],
  destinations: destinations.map((id) => ({
    id,
    source: 'web',
    ordered: false,
    steady: id === 'plain',
    secrets: [],
  })),
  entries: numbers.flatMap((number) =>
    destinations.flatMap((id): Entry[] => {
      const at = number * 1_000;
      const isDead = number === 1 && id === 'other';
      if (!isDead) return [entry('asked', number, id, at), entry('delivered', number, id, at)];
      const dead = { ...entry('dead', number, id, at), reason: 'client-error' };
      return [entry('asked', number, id, at), entry('failed', number, id, at), dead];
    }),
  ),
  decisions: [],
  calls: numbers.map((number) => ({ eventId: `event-${number}`, at: number * 1_000 })),
  written: numbers.flatMap((number) =>
    destinations.map((destinationId) => {
      const at = number * 1_000;
      return { eventId: `event-${number}`, destinationId, partition: 0, offset: 0, eventPartition: 0, at };
    }),
  ),
  changes: [],
  deletions: [],
  episodes: [],
  trails: [],
  disruptions: [],
  routerDisruptions: [],
  explanations: [],
  readings: [],
  crashes: [],
};

const ingest = { ingest_calls_received_total: 3, ingest_calls_total: 3 };
const router = {
  router_events_received_total: 3,
  events_routed_total: 3,
  deliveries_considered_total: 6,
  deliveries_created_total: 6,
  'destination_deliveries_created_total destination_id plain': 3,
  'destination_deliveries_created_total destination_id other': 3,
};
const delivery = {
  'delivery_attempts_total outcome delivered': 5,
  'delivery_attempts_total outcome dead': 1,
  'dead_letters_total reason client-error': 1,
};
const byDestination = [
  {
    name: 'tailrace_destination_attempts_total',
    labels: { outcome: 'delivered', destination_id: 'plain' },
    value: 3,
  },
  {
    name: 'tailrace_destination_attempts_total',
    labels: { outcome: 'delivered', destination_id: 'other' },
    value: 2,
  },
];

function delivered(counts: Readonly<Record<string, number>>, more: Partial<Reading> = {}): Reading {
  const read = reading('delivery', counts, more);
  return { ...read, series: [...read.series, ...byDestination] };
}

test('counts that are what happened are right, in one process or in several', () => {
  const readings = [reading('ingest', ingest), reading('router', router), delivered(delivery)];
  assert.deepEqual(wrongCounts({ ...facts, readings }), []);
  const two = [
    reading('ingest', { ingest_calls_received_total: 1, ingest_calls_total: 1 }),
    reading('ingest', { ingest_calls_received_total: 2, ingest_calls_total: 2 }),
  ];
  assert.deepEqual(wrongCounts({ ...facts, readings: two }), []);
});

test('a count that is one too low or too high is found', () => {
  const fewer = reading('ingest', { ingest_calls_received_total: 2, ingest_calls_total: 2 });
  assert.deepEqual(wrongCounts({ ...facts, readings: [fewer] }), [
    'tailrace_ingest_calls_total is 2, and 3 happened',
  ]);
  const more = delivered({ ...delivery, 'dead_letters_total reason client-error': 2 });
  assert.deepEqual(wrongCounts({ ...facts, readings: [more] }), [
    'tailrace_dead_letters_total is 2, and 1 happened',
    'tailrace_dead_letters_total client-error is 2, and 1 happened',
  ]);
});

test('what happened between the reading of a process and its end may be missing, and what was unfinished', () => {
  const counted = { ingest_calls_received_total: 2, ingest_calls_total: 2 };
  const killed = (from: number, waiting = 0): Reading =>
    reading('ingest', { ...counted, publisher_queued_records: waiting }, { from, until: overAt });
  assert.deepEqual(wrongCounts({ ...facts, readings: [killed(1_999)] }), []);
  assert.equal(wrongCounts({ ...facts, readings: [killed(2_001)] }).length, 1);
  assert.deepEqual(wrongCounts({ ...facts, readings: [killed(2_001, 1)] }), []);
});

test('what happened again counts once or more', () => {
  const calls = [...facts.calls, { eventId: 'event-1', at: 1_500 }];
  const ingested = (count: number): Reading =>
    reading('ingest', { ingest_calls_received_total: count, ingest_calls_total: count });
  for (const count of [3, 4])
    assert.deepEqual(wrongCounts({ ...facts, calls, readings: [ingested(count)] }), []);
  assert.deepEqual(wrongCounts({ ...facts, calls, readings: [ingested(5)] }), [
    'tailrace_ingest_calls_total is 5, and 3 to 4 happened',
  ]);
});

test('a delivery of which the answer was lost, and which then died, need not be counted', () => {
  const entries = [...facts.entries, entry('asked', 1, 'other', 900), entry('delivered', 1, 'other', 900)];
  const counts = { ...delivery, 'delivery_attempts_total outcome retry': 1 };
  assert.deepEqual(wrongCounts({ ...facts, entries, readings: [delivered(counts)] }), []);
});

test('what has come in at a process without work has gone out', () => {
  const lost = reading('router', { ...router, deliveries_considered_total: 7 });
  assert.deepEqual(wrongCounts({ ...facts, readings: [lost] }), [
    'router has tailrace_deliveries_considered_total 7, and tailrace_deliveries_created_total + tailrace_deliveries_filtered_total 6',
  ]);
  const busy = { ...lost, isIdle: false };
  assert.deepEqual(wrongCounts({ ...facts, readings: [busy] }), []);
});
