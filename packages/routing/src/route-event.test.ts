import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Destination, Source } from '@tailrace/config';
import { parseJson, readCall, type JsonObject, type TailraceEvent } from '@tailrace/events';
import { createRoutes, routeEvent, type FilterReason, type Routing } from './index.ts';
import { isSelected } from './integrations.ts';

const crm: Destination = {
  id: 'crm',
  type: 'Webhooks',
  enabled: true,
  sources: ['web'],
  settings: { webhooks: [{ url: 'https://crm.example/hook' }] },
};
const erp: Destination = { ...crm, id: 'erp' };

function route(
  event: TailraceEvent,
  schema: Source['schema'],
  enabled: readonly Destination[],
  disabled: readonly Destination[] = [],
): Routing {
  const routes = createRoutes({ destinationsOf: () => enabled, disabledDestinationsOf: () => disabled });
  return routeEvent(event, schema ? { schema } : {}, routes('web'));
}

const idsOf = (destinations: readonly Destination[] = []): string[] => destinations.map(({ id }) => id);

function eventOf(call: object): TailraceEvent {
  const reading = readCall(
    { userId: 'u-1', event: 'Order Completed', type: 'track', ...call },
    { receivedAt: 0, enriched: true, fallbackMessageId: () => 'm-1' },
  );
  assert.ok(reading.ok, reading.ok ? '' : reading.message);
  return reading.event;
}

/** The decision for one destination. */
function decisionFor(call: object, schema?: Source['schema']): 'routed' | FilterReason {
  const routing = route(eventOf(call), schema, [crm]);
  assert.equal(routing.routed.length + routing.filtered.length, 1);
  assert.equal(routing.outcome, routing.routed.length === 1 ? 'routed' : 'filtered');
  return routing.filtered[0]?.reason ?? 'routed';
}

describe('integrations (docs/specification.md, rule 5.2)', () => {
  const cases: [title: string, integrations: unknown, expected: 'routed' | 'integrations'][] = [
    ['a call without integrations goes to all destinations', undefined, 'routed'],
    ['an empty map turns no destination off', {}, 'routed'],
    ['All true turns no destination off', { All: true }, 'routed'],
    ['All false turns off the types that have no entry', { All: false }, 'integrations'],
    ['All false leaves on a type whose entry is true', { All: false, Webhooks: true }, 'routed'],
    ['an object of options counts as true', { All: false, Webhooks: { tier: 1 } }, 'routed'],
    ['false turns off the type of its entry', { Webhooks: false }, 'integrations'],
    ['false for a type takes precedence over All true', { All: true, Webhooks: false }, 'integrations'],
    ['null counts as no entry', { All: false, Webhooks: null }, 'integrations'],
    ['a type is case sensitive when it is turned off', { webhooks: false }, 'routed'],
    ['a type is case sensitive when it is turned on', { All: false, webhooks: true }, 'integrations'],
    ['All is case sensitive', { all: false }, 'routed'],
    ['the entry of another type has no effect', { 'Segment.io': false }, 'routed'],
  ];
  for (const [title, integrations, expected] of cases) {
    test(title, () => {
      assert.equal(decisionFor({ integrations }), expected);
    });
  }

  test('a number counts as no entry, also one that keeps its text', () => {
    for (const number of ['1', '1.0', '0.0', '1e400']) {
      const own = parseJson(`{"Webhooks":${number}}`) as JsonObject;
      const withAll = parseJson(`{"All":false,"Webhooks":${number}}`) as JsonObject;
      assert.deepEqual([isSelected(crm, own), isSelected(crm, withAll)], [true, false], number);
    }
  });

  const byId: [title: string, integrations: string, expected: readonly string[]][] = [
    ['false for an id turns that one off', '{"Webhooks":{"crm":false}}', ['erp']],
    ['All false leaves on an id whose entry is true', '{"Webhooks":{"All":false,"crm":true}}', ['crm']],
    ['the options of an id count as true', '{"Webhooks":{"All":false,"crm":{"tier":1}}}', ['crm']],
    ['only the All beside an id applies to it', '{"All":false,"Webhooks":{"crm":true}}', ['crm', 'erp']],
    ['an unknown id has no effect', '{"Webhooks":{"other":false}}', ['crm', 'erp']],
    ['an id is case sensitive', '{"Webhooks":{"CRM":false}}', ['crm', 'erp']],
    ['an id in the place of a type has no effect', '{"crm":false}', ['crm', 'erp']],
    ['null and numbers for an id count as no entry', '{"Webhooks":{"crm":null,"erp":0}}', ['crm', 'erp']],
    ['a list in the place of a type counts as true', '{"All":false,"Webhooks":[false]}', ['crm', 'erp']],
  ];
  for (const [title, integrations, expected] of byId) {
    test(`by id: ${title}`, () => {
      const event = eventOf({ integrations: parseJson(integrations) });
      assert.deepEqual(idsOf(route(event, undefined, [crm, erp]).routed), expected);
    });
  }

  test('by id: any id is possible, also that of a type, of a property of objects, or All', () => {
    for (const id of ['Webhooks', '__proto__', 'constructor', 'hasOwnProperty', '0', 'All']) {
      const selected = (json: string): boolean =>
        isSelected({ ...crm, id }, parseJson(json.replaceAll('ID', id)) as JsonObject);
      assert.ok(selected('{"Webhooks":{}}'), id);
      assert.ok(!selected('{"Webhooks":{"ID":false}}'), id);
      assert.equal(selected('{"Webhooks":{"All":false}}'), false, id);
      assert.ok(selected('{"Webhooks":{"All":false,"ID":true}}'), id);
      assert.equal(selected('{"ID":false}'), id !== 'Webhooks' && id !== 'All', id);
    }
  });
});

describe("the source's schema", () => {
  const schema = { track: { blocked: ['Debug Event'] } };

  test('5.3 blocks the track events that it names', () => {
    assert.equal(decisionFor({ event: 'Debug Event' }, schema), 'schema');
  });

  test('does not block other events, also those that differ in case', () => {
    assert.equal(decisionFor({}, schema), 'routed');
    assert.equal(decisionFor({ event: 'debug event' }, schema), 'routed');
  });

  test('applies to track calls only', () => {
    assert.equal(decisionFor({ type: 'page', event: 'Debug Event' }, schema), 'routed');
  });

  test('is reported where integrations turn the destination off too, and where there is no destination', () => {
    const event = eventOf({ event: 'Debug Event', integrations: { All: false } });
    const routing = route(event, schema, [crm]);
    assert.equal(routing.blocked, true);
    assert.equal(routing.filtered[0]?.reason, 'integrations');
    const nowhere = route(event, schema, []);
    assert.deepEqual([nowhere.outcome, nowhere.blocked], ['no-destination', true]);
  });
});

test('5.4 a delete goes to every destination, also where its integrations turn them off', () => {
  assert.equal(decisionFor({ type: 'delete', integrations: { All: false, Webhooks: false } }), 'routed');
});

test('5.7 a disabled destination does not get an event, and is named, also for a delete', () => {
  const off: Destination = { ...crm, id: 'off', enabled: false };
  for (const call of [{}, { type: 'delete' }, { integrations: { All: true } }]) {
    const { outcome, routed, filtered } = route(eventOf(call), undefined, [crm], [off]);
    assert.deepEqual([outcome, idsOf(routed)], ['routed', ['crm']]);
    assert.deepEqual(filtered, [{ reason: 'disabled', destinations: [off] }]);
  }
  assert.equal(route(eventOf({}), undefined, [], [off]).outcome, 'filtered');
});

test('5.4 5.6 a filter applies after the event itself and its source, and never to a delete', () => {
  const picky: Destination = { ...crm, filter: { events: { include: ['Signed Up'] } } };
  const rule = { path: 'events.include', text: 'events include Signed Up' };
  assert.deepEqual(route(eventOf({}), undefined, [picky, erp]), {
    outcome: 'routed',
    blocked: false,
    routed: [erp],
    filtered: [{ reason: 'filter', rule, destinations: [picky] }],
  });
  assert.equal(route(eventOf({ event: 'Signed Up' }), undefined, [picky]).outcome, 'routed');
  assert.equal(route(eventOf({ type: 'delete' }), undefined, [picky]).outcome, 'routed');
  const [all] = route(eventOf({ integrations: { All: false } }), undefined, [picky]).filtered;
  assert.equal(all?.reason, 'integrations');
  const blocked = { track: { blocked: ['Order Completed'] } };
  assert.equal(route(eventOf({}), blocked, [picky]).filtered[0]?.reason, 'schema');
});

test('5.10 a sample has a user, or an event, for good, and a larger one has it too', () => {
  const outOf = (percent: number, by: 'user' | 'event', calls: readonly object[]): string[] => {
    const sampled: Destination = { ...crm, sample: { percent, by } };
    return calls.flatMap((call, n) =>
      route(eventOf(call), undefined, [sampled]).routed.length > 0 ? [`${n}`] : [],
    );
  };
  const ids = Array.from({ length: 1_000 }, (_, n) => n);
  const byUser = ids.map((n) => ({ userId: `u-${n}`, messageId: 'm' }));
  const byEvent = ids.map((n) => ({ messageId: `m-${n}` }));
  for (const [by, calls] of [
    ['user', byUser],
    ['event', byEvent],
  ] as const) {
    const tenth = outOf(10, by, calls);
    assert.ok(tenth.length > 60 && tenth.length < 140, String(tenth.length));
    assert.deepEqual(outOf(10, by, calls), tenth);
    const half = new Set(outOf(50, by, calls));
    assert.ok(tenth.every((n) => half.has(n)));
    assert.equal(outOf(100, by, calls).length, 1_000);
  }
  const others = byUser.map((call) => ({ ...call, event: 'Other', messageId: 'other' }));
  assert.deepEqual(outOf(10, 'user', others), outOf(10, 'user', byUser));
});

test('5.10 a sample applies after the filter, and never to a delete, and is named', () => {
  const sampled: Destination = { ...crm, sample: { percent: 0.01, by: 'event' } };
  const rule = { path: 'sample', text: '0.01 % by event' };
  assert.deepEqual(route(eventOf({}), undefined, [sampled]).filtered, [
    { reason: 'sample', rule, destinations: [sampled] },
  ]);
  const filtered: Destination = { ...sampled, filter: { types: ['page'] } };
  assert.equal(route(eventOf({}), undefined, [filtered]).filtered[0]?.reason, 'filter');
  assert.equal(route(eventOf({ type: 'delete' }), undefined, [sampled]).outcome, 'routed');
});

test('5.8 an event of a suppressed user goes to no destination, and a delete to all', () => {
  const off: Destination = { ...crm, id: 'off', enabled: false };
  const source = createRoutes({ destinationsOf: () => [crm, erp], disabledDestinationsOf: () => [off] });
  const routed = (call: object) => routeEvent(eventOf(call), {}, source('web'), true);
  const { outcome, filtered } = routed({ integrations: { All: false } });
  assert.deepEqual(
    [outcome, filtered],
    [
      'filtered',
      [
        { reason: 'disabled', destinations: [off] },
        { reason: 'suppressed', destinations: [crm, erp] },
      ],
    ],
  );
  assert.deepEqual(idsOf(routed({ type: 'delete' }).routed), ['crm', 'erp']);
});

test('routes are prepared again only where the configuration has changed', () => {
  let enabled: readonly Destination[] = [crm];
  let disabled: readonly Destination[] = [];
  const routesOf = createRoutes({ destinationsOf: () => enabled, disabledDestinationsOf: () => disabled });
  const before = routesOf('web');
  assert.equal(routesOf('web'), before);
  assert.equal(before.filters, undefined);
  disabled = [erp];
  assert.equal(routesOf('web').connected, 2);
  enabled = [{ ...crm, filter: { types: ['page'] } }];
  assert.equal(routesOf('web').filters?.length, 1);
});

test('the destinations keep the order in which they are given', () => {
  assert.deepEqual(idsOf(route(eventOf({}), undefined, [erp, crm]).routed), ['erp', 'crm']);
  const { filtered } = route(eventOf({ integrations: { All: false } }), undefined, [erp, crm]);
  assert.deepEqual(filtered, [{ reason: 'integrations', destinations: [erp, crm] }]);
});

test('an event without candidates has no destination', () => {
  assert.deepEqual(route(eventOf({}), undefined, []), {
    outcome: 'no-destination',
    blocked: false,
    routed: [],
    filtered: [],
  });
});
