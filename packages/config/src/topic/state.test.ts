import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { encodeEntry, type Entry, type EntryKind } from './record.ts';
import type { Destination, Source } from '../rules/schema.ts';
import { createState, type ConfigState } from './state.ts';

function sourceOf(id: string, fields: Partial<Source> = {}): Source {
  return { id, writeKeys: [`wk_${id}`], enabled: true, ...fields };
}

function destinationOf(id: string, fields: Partial<Destination> = {}): Destination {
  const settings = { webhooks: [{ url: `https://${id}.example/` }] };
  return { id, type: 'Webhooks', enabled: true, sources: [], settings, ...fields };
}

function recordOf(kind: EntryKind, id: string, entry: Source | Destination | null) {
  const { key, value } = encodeEntry('config', { kind, id, entry } as Entry);
  return { offset: 0, key: Buffer.from(key ?? ''), value: value === null ? null : Buffer.from(value) };
}

function stateOf(...entries: readonly (Source | Destination)[]): ConfigState {
  const state = createState();
  for (const entry of entries) {
    state.accept(recordOf('type' in entry ? 'destination' : 'source', entry.id, entry));
  }
  return state;
}

test('an entry is found by its id until its tombstone', () => {
  const web = sourceOf('web');
  const crm = destinationOf('crm', { sources: ['web'] });
  const state = stateOf(web, crm);
  assert.deepEqual(state.lookup.source('web'), web);
  assert.deepEqual(state.lookup.sourceByWriteKey('wk_web'), web);
  assert.deepEqual(state.lookup.destination('crm'), crm);
  assert.deepEqual(state.lookup.destinationsOf('web'), [crm]);

  const removed = state.accept(recordOf('source', 'web', null));
  assert.deepEqual(removed, { outcome: 'changed', kind: 'source', id: 'web' });
  assert.equal(state.lookup.source('web'), undefined);
  assert.equal(state.lookup.sourceByWriteKey('wk_web'), undefined);
  assert.deepEqual(state.lookup.destinationsOf('web'), []);
  assert.deepEqual(state.lookup.destination('crm'), crm);
});

test('a source and a destination may have the same id', () => {
  const state = stateOf(sourceOf('a'), destinationOf('a'));
  state.accept(recordOf('source', 'a', null));
  assert.equal(state.lookup.source('a'), undefined);
  assert.ok(state.lookup.destination('a'));
});

test('only enabled destinations are connected; a disabled one is still found by its id', () => {
  const state = stateOf(
    sourceOf('web'),
    destinationOf('on', { sources: ['web'] }),
    destinationOf('off', { sources: ['web'], enabled: false }),
    destinationOf('elsewhere', { sources: ['app'] }),
  );
  assert.deepEqual(
    state.lookup.destinationsOf('web').map(({ id }) => id),
    ['on'],
  );
  assert.equal(state.lookup.destination('off')?.enabled, false);
  assert.deepEqual(state.lookup.destinationsOf('app'), []);
});

test('a rotated write key is no longer known', () => {
  const state = stateOf(sourceOf('web', { writeKeys: ['old'] }), sourceOf('web', { writeKeys: ['new'] }));
  assert.equal(state.lookup.sourceByWriteKey('old'), undefined);
  assert.equal(state.lookup.sourceByWriteKey('new')?.id, 'web');
});

test('a write key of several sources means an enabled one, then the lowest id', () => {
  const shared = { writeKeys: ['wk'] };
  const off = sourceOf('a', { ...shared, enabled: false });
  const entries = [sourceOf('c', shared), off, sourceOf('b', shared)];
  for (const order of [entries, entries.toReversed()]) {
    assert.equal(stateOf(...order).lookup.sourceByWriteKey('wk')?.id, 'b');
  }
  assert.equal(stateOf(off).lookup.sourceByWriteKey('wk')?.id, 'a');
});

test('only the change of a destination makes new lists of it, for its sources before and after', () => {
  const sources = ['web', 'app', 'shop'];
  const state = stateOf(
    ...sources.map((id) => sourceOf(id)),
    ...sources.map((id) => destinationOf(`of-${id}`, { sources: [id] })),
  );
  const lists = () =>
    sources.flatMap((id) => [state.lookup.destinationsOf(id), state.lookup.disabledDestinationsOf(id)]);
  const changedBy = (...change: Parameters<typeof recordOf>): boolean[] => {
    const before = lists();
    state.accept(recordOf(...change));
    return lists().map((list, place) => list !== before[place]);
  };
  assert.deepEqual(changedBy('source', 'web', sourceOf('web', { name: 'Website' })), Array(6).fill(false));
  const moved = destinationOf('of-web', { sources: ['shop'] });
  assert.deepEqual(changedBy('destination', 'of-web', moved), [true, true, false, false, true, true]);
  const shown = sources.map((id) => state.lookup.destinationsOf(id).map((one) => one.id));
  assert.deepEqual(shown, [[], ['of-app'], ['of-shop', 'of-web']]);
});

test('destinations that were read before their source are connected to it', () => {
  const state = stateOf(destinationOf('crm', { sources: ['web'] }));
  assert.deepEqual(state.lookup.destinationsOf('web'), []);
  state.accept(recordOf('source', 'web', sourceOf('web')));
  assert.equal(state.lookup.destinationsOf('web').length, 1);
});

test('a record that cannot be read says why, leaves its entry as it was, and is forgotten with the next', () => {
  const state = stateOf(sourceOf('web'));
  const cases: [key: string, value: string, problem: RegExp][] = [
    ['source/web', '{"id":', /not JSON/],
    ['source/web', 'null', /is empty/],
    ['source/web', '{"id":"web","writeKeys":[]}', /writeKeys has 0 items/],
    ['source/web', JSON.stringify(sourceOf('app')), /differs from the id in its key/],
    ['destination/web', JSON.stringify(sourceOf('web')), /type is missing/],
    ['audience/web', '{}', /not source/],
    ['source/', '{}', /not source/],
    ['', '{}', /not source/],
  ];
  for (const [key, value, problem] of cases) {
    const accepted = state.accept({ offset: 0, key: Buffer.from(key), value: Buffer.from(value) });
    assert.equal(accepted.outcome, 'unreadable', value);
    assert.match(accepted.problem, problem);
    assert.equal(accepted.key, key);
    assert.deepEqual(state.lookup.source('web'), sourceOf('web'));
  }
  assert.equal(state.accept({ offset: 0, key: null, value: null }).outcome, 'unreadable');
  assert.equal(state.isUnreadable('source', 'web'), true);
  state.accept(recordOf('source', 'web', sourceOf('web', { name: 'Website' })));
  assert.equal(state.isUnreadable('source', 'web'), false);
  assert.equal(state.lookup.source('web')?.name, 'Website');
});

test('keys of a newer version do not hide an entry from this one', () => {
  const state = createState();
  const value = Buffer.from(JSON.stringify({ ...sourceOf('web'), colour: 'green' }));
  assert.equal(state.accept({ offset: 0, key: Buffer.from('source/web'), value }).outcome, 'changed');
  assert.ok(state.lookup.source('web'));
});

const ids = fc.constantFrom('a', 'b', 'c');
const writeKeys = fc.uniqueArray(fc.constantFrom('k1', 'k2', 'k3'), { minLength: 1 });
const anySource = fc
  .record({ id: ids, enabled: fc.boolean(), writeKeys })
  .map(({ id, ...fields }) => sourceOf(id, fields));
const anyDestination = fc
  .record({ id: ids, enabled: fc.boolean(), sources: fc.uniqueArray(ids) })
  .map(({ id, ...fields }) => destinationOf(id, fields));
const anyWrite = fc.oneof(
  anySource.map((entry) => ({ kind: 'source' as const, id: entry.id, entry })),
  anyDestination.map((entry) => ({ kind: 'destination' as const, id: entry.id, entry })),
  fc.record({
    kind: fc.constantFrom('source' as const, 'destination' as const),
    id: ids,
    entry: fc.constant(null),
  }),
);

/** All that can be asked of a state. */
function everythingIn({ lookup }: ConfigState): unknown {
  const all = ['a', 'b', 'c'];
  return {
    sources: lookup.sources(),
    destinations: lookup.destinations(),
    byId: all.map((id) => [lookup.source(id), lookup.destination(id)]),
    byWriteKey: ['k1', 'k2', 'k3'].map((writeKey) => lookup.sourceByWriteKey(writeKey)),
    connected: all.map((id) => lookup.destinationsOf(id)),
  };
}

test('any interleaving of writes, removals and look-ups gives the state of the last write of each key', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyWrite, fc.boolean()), { maxLength: 40 }), (writes) => {
      const state = createState();
      const last = new Map<string, (typeof writes)[number][0]>();
      for (const [write, looksUp] of writes) {
        state.accept(recordOf(write.kind, write.id, write.entry));
        // A look-up in between must not freeze what it saw.
        if (looksUp) everythingIn(state);
        last.set(`${write.kind}/${write.id}`, write);
      }
      const compacted = createState();
      for (const { kind, id, entry } of [...last.values()].reverse()) {
        if (entry !== null) compacted.accept(recordOf(kind, id, entry));
      }
      assert.deepEqual(everythingIn(state), everythingIn(compacted));

      const written = (kind: EntryKind) =>
        new Set([...last.values()].filter((write) => write.kind === kind && write.entry).map(({ id }) => id));
      assert.deepEqual(new Set(state.lookup.sources().map(({ id }) => id)), written('source'));
      assert.deepEqual(new Set(state.lookup.destinations().map(({ id }) => id)), written('destination'));
    }),
  );
});
