/** What a notification is about, and what of it is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Destination, Notification, Source } from '@tailrace/config';
import type { ReportedDestination } from '../operations/reported.ts';
import { changesOf, incidentsAt, incidentsOf, lastingOf, type Facts, type Incident } from './incidents.ts';
import {
  groupOf,
  linesOf,
  messageOf,
  pagerDutyBodies,
  slackBody,
  testMessage,
  withLinks,
  type Message,
} from './message.ts';

const now = Date.parse('2026-11-27T12:00:00.000Z');
const minutesAgo = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();
const all: Notification = { id: 'all', enabled: true, webhook: { url: 'https://example.com/' } };

interface Given {
  readonly reported?: Readonly<Record<string, ReportedDestination>>;
  readonly disabled?: readonly string[];
  readonly paused?: readonly string[];
  /** Minutes since the latest call, by source. */
  readonly silent?: Readonly<Record<string, number>> | undefined;
}

function factsOf({ reported = {}, disabled = [], paused = [], silent }: Given): Facts {
  const sources = Object.keys(silent ?? {}).map((id): Source => ({
    id,
    writeKeys: ['wk_test'],
    enabled: true,
  }));
  return {
    config: {
      source: (id) => sources.find((one) => one.id === id),
      sources: () => sources,
      destination: (id) =>
        id === 'deleted'
          ? undefined
          : ({ id, enabled: !disabled.includes(id), paused: paused.includes(id) } as unknown as Destination),
    },
    reported: { destination: (id) => reported[id] ?? {}, destinations: () => Object.keys(reported) },
    receivedAt:
      silent && new Map(Object.entries(silent).map(([id, minutes]) => [id, Date.parse(minutesAgo(minutes))])),
  };
}

const found = (notification: Notification, facts: Facts): readonly Incident[] =>
  incidentsOf(notification, incidentsAt(now, facts), now);
const textsOf = (message: Message): string[] => linesOf(message).map(({ text }) => text);
const keysOf = (facts: Facts, notification: Notification = all): string[] =>
  found(notification, facts).map(({ key }) => key);

test('a destination is failing after ten minutes, unless it is disabled, paused or deleted, or was since', () => {
  const failing = (minutes: number): ReportedDestination => ({ failingSince: minutesAgo(minutes) });
  const stopped = { ...failing(30), stopped: true };
  const inactive = { off: failing(30), paused: failing(30), deleted: failing(30), stopped };
  const reported = { a: failing(9), b: failing(10), c: failing(30), ...inactive };
  assert.deepEqual(keysOf(factsOf({ reported, disabled: ['off'], paused: ['paused'] })), [
    'destination.failing/c',
    'destination.failing/b',
  ]);
});

test('dead letters are over after an hour without further ones', () => {
  const reported = {
    a: { deadSince: minutesAgo(600), deadUntil: minutesAgo(59) },
    b: { deadUntil: minutesAgo(60) },
  };
  assert.deepEqual(keysOf(factsOf({ reported })), ['deliveries.dead/a']);
});

test('a destination that was disabled stays so until it is enabled', () => {
  const reported = { a: { disabledSince: minutesAgo(5) }, b: { disabledSince: minutesAgo(5) } };
  assert.deepEqual(keysOf(factsOf({ reported, disabled: ['a'] })), ['destination.disabled/a']);
});

test('a source is silent after the time of the notification, by default an hour', () => {
  const facts = factsOf({ silent: { web: 59, app: 60, old: 20_000 } });
  assert.deepEqual(keysOf(facts), ['source.silent/old', 'source.silent/app']);
  assert.deepEqual(keysOf(facts, { ...all, silentAfter: '5m', sources: ['web'] }), ['source.silent/web']);
  const { opened } = changesOf(found(all, facts), new Set(), facts);
  assert.deepEqual(
    opened.map(({ key }) => key),
    ['source.silent/app'],
    'silence of two weeks is not news',
  );
});

test('the events and destinations of a notification limit it', () => {
  const reported = {
    a: { failingSince: minutesAgo(30), deadUntil: minutesAgo(1) },
    b: { deadUntil: minutesAgo(1) },
  };
  const facts = factsOf({ reported });
  assert.deepEqual(keysOf(facts, { ...all, events: ['deliveries.dead'] }), [
    'deliveries.dead/a',
    'deliveries.dead/b',
  ]);
  assert.deepEqual(keysOf(facts, { ...all, destinations: ['b'] }), ['deliveries.dead/b']);
});

test('only what was told is over, and of sources nothing while the history does not know them', () => {
  const told = new Set(['source.silent/web', 'destination.failing/a']);
  const known = factsOf({ silent: { web: 1 } });
  const changes = changesOf(found(all, known), told, known);
  assert.deepEqual(changes, { opened: [], over: [...told], open: 0 });
  const unknown = factsOf({});
  assert.deepEqual(changesOf(found(all, unknown), told, unknown).over, ['destination.failing/a']);
  const forgotten = { ...known, receivedAt: new Map() };
  assert.deepEqual(changesOf([], told, forgotten).over, ['destination.failing/a']);
});

test('what was told lasts as long as it did not end meanwhile, whatever the notification tells now', () => {
  const since = minutesAgo(30);
  const reported = { a: { failingSince: since }, b: { failingSince: minutesAgo(15) } };
  const facts = factsOf({ reported, silent: { web: 30, app: 1 } });
  const keys = ['destination.failing/a', 'destination.failing/b', 'source.silent/web', 'source.silent/app'];
  const told = new Map(keys.map((key) => [key, { since }]));
  assert.deepEqual([...lastingOf(told, incidentsAt(now, facts))].sort(), [
    'destination.failing/a',
    'source.silent/web',
  ]);
});

test('a thousand incidents are one message of bounded size', () => {
  const ids = Array.from({ length: 1_000 }, (_, index) => `d${index}`);
  const reported = Object.fromEntries(
    ids.map((id) => [id, { failingSince: minutesAgo(15), reason: 'timeout' }]),
  );
  const facts = factsOf({ reported });
  const changes = changesOf(found(all, facts), new Set(), facts);
  const message = messageOf('all', changes, new Map(), { ...facts, now });
  assert.equal(message.title, '1000 new problems');
  assert.deepEqual([message.opened.length, message.openedCount, message.openCount], [20, 1_000, 1_000]);
  assert.deepEqual(textsOf(message).slice(-2), ['and 980 more', 'Open now: 1000']);
  const group = groupOf('all', changes.opened);
  const bodies = pagerDutyBodies({ message, group, resolved: ['before'] }, 'key') as Record<
    string,
    unknown
  >[];
  assert.deepEqual(
    bodies.map(({ event_action: action, dedup_key: key }) => [action, key]),
    [
      ['trigger', group],
      ['resolve', 'before'],
    ],
  );
  assert.ok(JSON.stringify(bodies).length < 10_000);
});

test('a message says what began and what is over, and Slack cannot take its text for markup', () => {
  const facts = factsOf({ reported: { a: { failingSince: minutesAgo(15), reason: '<!channel>' } } });
  const told = new Map([['deliveries.dead/b', { since: minutesAgo(90) }]]);
  const changes = changesOf(found(all, facts), new Set(told.keys()), facts);
  const message = messageOf('all', changes, told, { ...facts, now });
  assert.deepEqual(textsOf(message), [
    'a has been failing since 2026-11-27 11:45 UTC: <!channel>',
    'b has had no further dead letters for an hour',
    'Open now: 1',
  ]);
  assert.match(JSON.stringify(slackBody(message)), /&lt;!channel&gt;/);
  assert.doesNotMatch(JSON.stringify(slackBody(message)), /<!channel>/);
});

test('each problem, and the message, links to its page in the console', () => {
  const facts = factsOf({
    reported: {
      a: { failingSince: minutesAgo(15) },
      b: { deadUntil: minutesAgo(5) },
      c: { disabledSince: minutesAgo(4) },
    },
    disabled: ['c'],
    silent: { web: 90 },
  });
  const told = new Map([['destination.failing/d', { since: minutesAgo(90) }]]);
  const changes = changesOf(found(all, facts), new Set(told.keys()), facts);
  const outgoing = { message: messageOf('all', changes, told, { ...facts, now }), group: 'g', resolved: [] };
  for (const consoleUrl of ['https://example.com/tailrace', 'https://example.com/tailrace/']) {
    const { message } = withLinks(outgoing, consoleUrl);
    assert.deepEqual(
      linesOf(message).map(({ url }) => url?.replace('https://example.com/tailrace/#/', '')),
      [
        'sources/web',
        'destinations/a?tab=failures',
        'destinations/b?tab=failures',
        'destinations/c',
        'destinations/d?tab=failures',
        'notifications/all',
      ],
    );
  }
  const { message } = withLinks(testMessage('all', now), 'https://example.com');
  assert.deepEqual(
    linesOf(message).map(({ url }) => url),
    ['https://example.com/#/notifications/all'],
  );
});
