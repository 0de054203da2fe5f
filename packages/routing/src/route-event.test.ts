import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Destination, Source } from '@tailrace/config';
import { parseJson, readCall, type JsonObject, type TailraceEvent } from '@tailrace/events';
import { routeEvent, type FilterReason } from './index.ts';
import { isSelected } from './integrations.ts';

const crm: Destination = {
  id: 'crm',
  type: 'Webhooks',
  enabled: true,
  sources: ['web'],
  settings: { webhooks: [{ url: 'https://crm.example/hook' }] },
};
const erp: Destination = { ...crm, id: 'erp' };

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
  const routing = routeEvent(eventOf(call), schema ? { schema } : {}, [crm]);
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
      assert.deepEqual([isSelected('Webhooks', own), isSelected('Webhooks', withAll)], [true, false], number);
    }
  });
});

describe("the source's schema", () => {
  const schema = { track: { blocked: ['Debug Event'] } };

  test('blocks the track events that it names', () => {
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
    const routing = routeEvent(event, { schema }, [crm]);
    assert.equal(routing.blocked, true);
    assert.equal(routing.filtered[0]?.reason, 'integrations');
    const nowhere = routeEvent(event, { schema }, []);
    assert.deepEqual([nowhere.outcome, nowhere.blocked], ['no-destination', true]);
  });
});

test('a delete goes to every destination, also where its integrations turn them off', () => {
  assert.equal(decisionFor({ type: 'delete', integrations: { All: false, Webhooks: false } }), 'routed');
});

test('the destinations keep the order in which they are given', () => {
  const routing = routeEvent(eventOf({}), {}, [erp, crm]);
  assert.deepEqual(
    routing.routed.map(({ id }) => id),
    ['erp', 'crm'],
  );
  const filtered = routeEvent(eventOf({ integrations: { All: false } }), {}, [erp, crm]);
  assert.deepEqual(
    filtered.filtered.map(({ destination }) => destination.id),
    ['erp', 'crm'],
  );
});

test('an event without candidates has no destination', () => {
  assert.deepEqual(routeEvent(eventOf({}), {}, []), {
    ...{ outcome: 'no-destination', blocked: false },
    ...{ routed: [], filtered: [] },
  });
});
