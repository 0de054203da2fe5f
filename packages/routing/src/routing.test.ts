import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Destination, Source } from '@tailrace/config';
import { readCall } from '@tailrace/events';
import { route, type FilterReason } from './index.ts';

const crm: Destination = {
  id: 'crm',
  type: 'Webhooks',
  enabled: true,
  sources: ['web'],
  settings: { webhooks: [{ url: 'https://crm.example/hook' }] },
};
const erp: Destination = { ...crm, id: 'erp' };

/** What becomes of a call at one destination. */
function fate(call: object, schema?: Source['schema']): 'routed' | FilterReason {
  const reading = readCall(
    { userId: 'u-1', event: 'Order Completed', type: 'track', ...call },
    { receivedAt: 0, enriched: true, fallbackMessageId: () => 'm-1' },
  );
  assert.ok(reading.ok, reading.ok ? '' : reading.message);
  const [routing, ...others] = route(reading.event, schema ? { schema } : {}, [crm]);
  assert.ok(routing && others.length === 0);
  return routing.outcome === 'filtered' ? routing.reason : routing.outcome;
}

describe('integrations (docs/specification.md, rule 5.2)', () => {
  const cases: [title: string, integrations: unknown, expected: 'routed' | 'integrations'][] = [
    ['a call without them goes everywhere', undefined, 'routed'],
    ['an empty map turns nothing off', {}, 'routed'],
    ['All true turns nothing off', { All: true }, 'routed'],
    ['All false turns off what is not named', { All: false }, 'integrations'],
    ['All false leaves on what is true', { All: false, Webhooks: true }, 'routed'],
    ['an object of options is as good as true', { All: false, Webhooks: { tier: 1 } }, 'routed'],
    ['false turns off by name', { Webhooks: false }, 'integrations'],
    ['false by name comes before All true', { All: true, Webhooks: false }, 'integrations'],
    ['null says nothing', { All: false, Webhooks: null }, 'integrations'],
    ['the name is case sensitive when it turns off', { webhooks: false }, 'routed'],
    ['the name is case sensitive when it turns on', { All: false, webhooks: true }, 'integrations'],
    ['All is case sensitive', { all: false }, 'routed'],
    ['another destination changes nothing', { 'Segment.io': false }, 'routed'],
  ];
  for (const [title, integrations, expected] of cases) {
    test(title, () => {
      assert.equal(fate({ integrations }), expected);
    });
  }
});

describe("the source's schema filter", () => {
  const schema = { track: { blocked: ['Debug Event'] } };

  test('stops the track events that it names', () => {
    assert.equal(fate({ event: 'Debug Event' }, schema), 'schema');
  });

  test('lets every other event through, also one that differs in case', () => {
    assert.equal(fate({}, schema), 'routed');
    assert.equal(fate({ event: 'debug event' }, schema), 'routed');
  });

  test('is about track calls only', () => {
    assert.equal(fate({ type: 'page', event: 'Debug Event' }, schema), 'routed');
  });
});

test('a delete goes to every destination, whatever its integrations say', () => {
  assert.equal(fate({ type: 'delete', integrations: { All: false, Webhooks: false } }), 'routed');
});

test('each destination gets a decision of its own, in the order given', () => {
  const reading = readCall(
    { type: 'page', userId: 'u-1' },
    { receivedAt: 0, fallbackMessageId: () => 'm-1' },
  );
  assert.ok(reading.ok);
  assert.deepEqual(
    route(reading.event, {}, [erp, crm]).map(({ destination }) => destination.id),
    ['erp', 'crm'],
  );
  assert.deepEqual(route(reading.event, {}, []), []);
});
