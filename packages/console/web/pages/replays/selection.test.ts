import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftOf, orderOf, periodOf, unusedOf } from './selection.ts';

test('a replay of a list sends what the list shows, and names what it cannot be filtered by', () => {
  const query = {
    destination: 'crm',
    source: 'web',
    type: 'track',
    event: 'Order',
    user: 'ada',
    since: '2h',
  };
  assert.deepEqual(orderOf(draftOf(query), periodOf(query)), {
    kind: 'events',
    destination: 'crm',
    sources: ['web'],
    types: ['track'],
    events: ['Order'],
    userId: 'ada',
    from: '2h',
    mode: 'missing',
  });
  assert.deepEqual(unusedOf(query), []);
  assert.deepEqual(unusedOf({ ...query, status: 'dead', reason: 'filter', type: 'delete' }), [
    'status',
    'reason',
    'type',
  ]);
  assert.deepEqual(orderOf(draftOf({ destination: 'crm', type: 'delete' }), periodOf({})), {
    kind: 'events',
    destination: 'crm',
    from: '24h',
    mode: 'missing',
  });
});

test('a condition joins the replay, and one that cannot be read makes none', () => {
  const draft = draftOf({ destination: 'crm' });
  const condition = { field: 'userId', exists: true };
  assert.deepEqual(orderOf({ ...draft, condition: JSON.stringify(condition) }, periodOf({}))?.filter, {
    condition,
  });
  assert.equal(orderOf({ ...draft, condition: '{' }, periodOf({})), undefined);
});
