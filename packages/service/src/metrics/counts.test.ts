import assert from 'node:assert/strict';
import test from 'node:test';
import { CountsById, unknownId } from './counts.ts';

function open(...ids: readonly string[]) {
  const existing = new Set(ids);
  const counts = new CountsById(
    () => ({ times: 0 }),
    (id) => existing.has(id),
  );
  const shown = (): Record<string, number> =>
    Object.fromEntries(Array.from(counts, ([id, { times }]) => [id, times]));
  return { existing, counts, shown };
}

test('unknown ids share one set of counts', () => {
  const { counts, shown } = open('crm');
  counts.of('crm').times += 1;
  for (let nth = 0; nth < 1_000; nth += 1) counts.of(`made-up-${nth}`).times += 1;
  assert.deepEqual(shown(), { crm: 1, [unknownId]: 1_000 });
});

test('the counts of a deleted id are removed, and begin at zero when it exists again', () => {
  const { existing, counts, shown } = open('crm', 'erp');
  counts.of('crm').times += 3;
  counts.of('erp').times += 4;
  counts.changed('erp');
  existing.delete('crm');
  counts.changed('crm');
  assert.deepEqual(shown(), { erp: 4 });
  counts.of('crm').times += 1;
  assert.deepEqual(shown(), { erp: 4, [unknownId]: 1 });
  existing.add('crm');
  counts.of('crm').times += 1;
  assert.deepEqual(shown(), { erp: 4, [unknownId]: 1, crm: 1 });
});
