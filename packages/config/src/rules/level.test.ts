import assert from 'node:assert/strict';
import test from 'node:test';
import { newerReleaseNeeded, ownLevel, requirementsOf, unmetBy, type Feature } from './level.ts';
import { decodeEntry, encodeEntry } from '../topic/record.ts';
import { createState } from '../topic/state.ts';
import type { Destination } from './schema.ts';

const crm: Destination = {
  id: 'crm',
  type: 'Webhooks',
  enabled: true,
  sources: ['web'],
  ordering: 'user',
  filter: { types: ['track'] },
  settings: { webhooks: [{ url: 'https://crm.example/' }] },
};
const requires = [{ feature: 'later', level: ownLevel + 1, by: 'delivery' as const }];

function recordOf(entry: object, id = 'crm') {
  return { offset: 0, key: Buffer.from(`destination/${id}`), value: Buffer.from(JSON.stringify(entry)) };
}

function written(entry: Destination): unknown {
  return JSON.parse(String(encodeEntry('config', { kind: 'destination', id: entry.id, entry }).value));
}

test('an entry requires the features that it uses, except those that every reader of requirements has', () => {
  const named: Feature = {
    feature: 'named',
    level: 2,
    by: 'router',
    isUsed: ({ name }) => name !== undefined,
  };
  const old: Feature = { feature: 'ordering', level: 1, by: 'delivery', isUsed: () => true };
  assert.deepEqual(requirementsOf({ ...crm, name: 'CRM' }, [named, old]), [
    { feature: 'named', level: 2, by: 'router' },
  ]);
  assert.deepEqual(requirementsOf(crm, [named, old]), []);
  assert.deepEqual(written({ ...crm, paused: true }), { ...crm, paused: true });
});

test('a requirement above the own level is unmet, and anything else that the key may hold is none', () => {
  assert.deepEqual(unmetBy({ requires }), requires);
  assert.deepEqual(unmetBy({ requires }, ownLevel + 1), []);
  for (const other of [undefined, null, 7, {}, [null, 'later', { level: 'x' }]])
    assert.deepEqual(unmetBy({ requires: other }), []);
});

test('a writer keeps what a newer release required, and drops it once that is met', () => {
  const newer = decodeEntry(recordOf({ ...crm, later: 'x', requires }));
  assert.ok('entry' in newer && newer.entry);
  assert.deepEqual(written({ ...(newer.entry as Destination), name: 'CRM' }), {
    ...crm,
    later: 'x',
    name: 'CRM',
    requires,
  });
  const met = decodeEntry(recordOf({ ...crm, requires: [{ ...requires[0], level: ownLevel }] }));
  assert.deepEqual('entry' in met && met.entry, crm);
});

test('a filter that releases of level 1 cannot read is stored where they ignore it, and holds them back', () => {
  for (const operator of [{ contains: '@example.com' }, { startsWith: 'a' }]) {
    const condition = { any: [{ field: 'event', equals: 'E' }, { not: { field: 'userId', ...operator } }] };
    const entry = { ...crm, filter: { condition } };
    const { filter, ...others } = entry;
    const required = [{ feature: 'textFilter', level: 2, by: 'router' }];
    assert.deepEqual(written(entry), { ...others, textFilter: filter, requires: required });
    assert.deepEqual(unmetBy(written(entry), 1), required);
    const read = decodeEntry(recordOf(written(entry) as object));
    assert.deepEqual('entry' in read && read.entry, entry);
  }
});

test('a setting that a release of level 2 would ignore holds back what would do harm', () => {
  const settings = (more: Partial<Destination['settings']>) => ({ settings: { ...crm.settings, ...more } });
  const [webhook] = crm.settings.webhooks;
  assert.ok(webhook);
  const cases: [change: Partial<Destination>, required: string[]][] = [
    [{ fields: { exclude: ['context'] } }, ['fields router']],
    [{ sample: { percent: 10 } }, ['sample router']],
    [{ retry: { for: '1h' } }, ['retry delivery']],
    [{ maxInFlight: 1 }, ['maxInFlight delivery']],
    [{ rateLimit: 1, burst: 2, timeout: '1s', disableAfter: '3d', proxy: 'none' }, []],
    [settings({ contentType: 'form' }), ['contentType router', 'contentType delivery']],
    [settings({ webhooks: [{ ...webhook, method: 'PUT' }] }), ['method delivery']],
    [settings({ auth: { token: 't' } }), ['auth delivery']],
    [settings({ signature: { encoding: 'base64' } }), ['signature delivery']],
    [settings({ ed25519: {} }), ['ed25519 delivery']],
    [settings({ deliveryIdHeader: 'X-Id' }), ['deliveryIdHeader delivery']],
    [
      settings({ oauth2: { tokenUrl: 'https://id.example/', clientId: 'c', clientSecret: 's' } }),
      ['oauth2 delivery'],
    ],
  ];
  for (const [change, required] of cases) {
    const unmet = unmetBy(written({ ...crm, ...change }), 2);
    assert.deepEqual(
      unmet.map(({ feature, by }) => `${feature} ${by}`),
      required,
    );
  }
});

test('services hold a destination back while it requires more than they have, and writers see it as it is', () => {
  for (const holds of [true, false]) {
    const state = createState(undefined, { holds });
    const isPaused = (): boolean => state.lookup.destination('crm')?.paused === true;
    state.accept(recordOf({ ...crm, requires }));
    assert.equal(isPaused(), holds);
    assert.deepEqual([...state.unmet('delivery').keys()], ['crm']);
    assert.equal(state.unmet('router').size, 0);
    state.accept(recordOf(crm));
    assert.equal(isPaused(), false);
    state.accept(recordOf({ ...crm, requires: [{ ...requires[0], by: 'router' }] }));
    assert.equal(isPaused(), false);
    assert.equal(state.unmet('router').size, 1);
    state.accept(recordOf({ ...crm, enabled: false, requires: [{ ...requires[0], by: 'router' }] }));
    assert.equal(state.unmet('router').size, 0);
    state.accept(recordOf({ ...crm, requires: [{ ...requires[0], by: 'router' }] }));
    assert.equal(state.unmet('router').size, 1);
    state.accept({ ...recordOf({}), value: null });
    assert.equal(state.unmet('router').size, 0);
  }
});

test('the error names destinations, features and levels, up to ten destinations', () => {
  assert.equal(newerReleaseNeeded(new Map()), undefined);
  const many = Array.from({ length: 12 }, (_, nth) => [`crm-${nth}`, requires] as const);
  const { code, message } = newerReleaseNeeded(new Map(many)) ?? {};
  assert.equal(code, 'config-needs-newer-release');
  assert.match(message ?? '', /of level 4, .*: crm-0 \(later, level 5\), .*crm-9 .* and 2 more\. Run/);
});
