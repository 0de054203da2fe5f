import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conflictsOf, joined, mergePatchOf } from './merge.ts';
import { omit } from './omit.ts';

const base = {
  id: 'crm',
  name: 'CRM',
  rateLimit: 10,
  settings: { sharedSecret: '********', webhooks: [{ url: 'https://a.example/' }] },
};

test('changes to different fields are no conflict, and both are kept', () => {
  const mine = { ...base, name: 'Sales' };
  const theirs = { ...base, settings: { ...base.settings, standardWebhooks: true } };
  assert.deepEqual(conflictsOf(base, mine, theirs), []);
  const result = joined(base, mine, theirs, {});
  assert.deepEqual(result, { ...theirs, name: 'Sales' });
  assert.deepEqual(mergePatchOf(theirs, result), { name: 'Sales' });
});

test('a field that both changed is a conflict, of which one value is chosen', () => {
  const mine = { ...base, rateLimit: 20, name: 'Sales' };
  const theirs = omit(base, 'rateLimit');
  assert.deepEqual(conflictsOf(base, mine, theirs), [
    { field: 'rateLimit', base: 10, mine: 20, theirs: undefined },
  ]);
  assert.deepEqual(mergePatchOf(theirs, joined(base, mine, theirs, { rateLimit: 'mine' })), {
    rateLimit: 20,
    name: 'Sales',
  });
  assert.deepEqual(mergePatchOf(theirs, joined(base, mine, theirs, { rateLimit: 'theirs' })), {
    name: 'Sales',
  });
});

test('the same change by both is no conflict, in any order of keys', () => {
  const mine = { ...base, filter: { types: ['track'], events: { include: ['A'] } } };
  const theirs = { ...base, filter: { events: { include: ['A'] }, types: ['track'] } };
  assert.deepEqual(conflictsOf(base, mine, theirs), []);
  assert.deepEqual(mergePatchOf(theirs, joined(base, mine, theirs, {})), {});
});

test('the settings count field by field', () => {
  const mine = { ...base, settings: { ...base.settings, webhooks: [{ url: 'https://b.example/' }] } };
  const theirs = { ...base, settings: { ...base.settings, webhooks: [{ url: 'https://c.example/' }] } };
  assert.deepEqual(
    conflictsOf(base, mine, theirs).map(({ field }) => field),
    ['settings.webhooks'],
  );
});

test('a patch removes what is no longer there, also within objects', () => {
  const before = { filter: { types: ['track'], condition: { field: 'a', equals: 1 } } };
  const after = { filter: { condition: { field: 'a', atLeast: 1 } } };
  assert.deepEqual(mergePatchOf(before, after), {
    filter: { types: null, condition: { equals: null, atLeast: 1 } },
  });
  assert.deepEqual(mergePatchOf(before, {}), { filter: null });
});
