import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { traitName } from './trait-name.ts';

test('13.1 a name becomes its lower-case words, joined by underscores', () => {
  const cases: Readonly<Record<string, string>> = {
    'Big Spenders': 'big_spenders',
    big_spenders: 'big_spenders',
    'BIG SPENDERS': 'big_spenders',
    'big-spenders': 'big_spenders',
    '  Big   Spenders! ': 'big_spenders',
    bigSpenders: 'big_spenders',
    BigSpenders: 'big_spenders',
    HTTPServer: 'http_server',
    parseJSONFile: 'parse_json_file',
    iOSUsers: 'i_os_users',
    VIPs: 'vi_ps',
    'VIP users (EU)': 'vip_users_eu',
    'Last 30 days': 'last_30_days',
    'Active 30d': 'active_30d',
    top10Users: 'top10_users',
    Top10: 'top10',
    '2024 Buyers': '2024_buyers',
    '50% off': '50_off',
    "Today's buyers": 'todays_buyers',
    'Today’s buyers': 'todays_buyers',
    'R&D / Ops': 'r_d_ops',
    __private__: 'private',
    'a.b.c': 'a_b_c',
    'Käufer Österreich': 'käufer_österreich',
    ÉlèvesÉtoilés: 'élèves_étoilés',
    ΚαλοίΠελάτες: 'καλοί_πελάτες',
    'Лучшие клиенты': 'лучшие_клиенты',
    重要な顧客: '重要な顧客',
    'हिन्दी वाले': 'हिन्दी_वाले',
    'Fans 🎉 2024': 'fans_2024',
  };
  for (const [name, trait] of Object.entries(cases)) assert.equal(traitName(name), trait, name);
});

test('a name without letters and digits has no trait', () => {
  for (const name of ['', ' ', '!!!', '🎉', '__', "'", '\u0301']) assert.equal(traitName(name), '', name);
});

test('two encodings of the same letter give the same trait', () => {
  assert.equal(traitName('Cafe\u0301'), traitName('Café'));
});

test('a trait maps to itself, and consists of lower-case letters, digits, marks and underscores', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (name) => {
      const trait = traitName(name);
      assert.equal(traitName(trait), trait);
      assert.match(trait, /^(?:[\p{L}\p{N}\p{M}]+(?:_[\p{L}\p{N}\p{M}]+)*)?$/u);
    }),
  );
});
