import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idOf } from './proposed-id.ts';

test('an id is proposed that the API accepts, or none', () => {
  const cases: [name: string, id: string][] = [
    ['Customer database', 'customer-database'],
    ['  Ünïcode & Co. #1 ', 'unicode-co-1'],
    ['crm_2', 'crm-2'],
    [`${'a'.repeat(63)} b`, 'a'.repeat(63)],
    ['データ', ''],
    ['…', ''],
    ['', ''],
  ];
  for (const [name, id] of cases) {
    assert.equal(idOf(name), id);
    assert.match(idOf(name), /^[a-zA-Z0-9_-]{0,64}$/);
  }
});
