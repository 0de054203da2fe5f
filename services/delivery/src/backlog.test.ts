import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Backlog } from './backlog.ts';

describe('the backlog', () => {
  const step = fc.record({
    kind: fc.constantFrom('add', 'add', 'remove'),
    key: fc.integer({ min: 1, max: 3 }),
    sequence: fc.nat(20),
    until: fc.nat(100),
  });

  test('knows the first, the copies and the last of each key, as a list of all would', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100, size: 'max' }), (steps) => {
        const backlog = new Backlog();
        const lists = new Map([1, 2, 3].map((key) => [key, { all: [] as number[], until: 0 }]));
        for (const { kind, key, sequence, until } of steps) {
          const list = lists.get(key);
          assert.ok(list);
          if (kind === 'add') {
            backlog.add(key, sequence, until);
            list.until = Math.max(list.until, until);
            list.all.push(sequence);
          } else {
            backlog.remove(key, sequence);
            const place = list.all.indexOf(sequence);
            if (place >= 0) list.all.splice(place, 1);
            if (list.all.length === 0) list.until = 0;
          }
          assert.equal(backlog.first(key), Math.min(...list.all));
          assert.equal(backlog.until(key), list.until);
          for (let other = 0; other <= 20; other += 1) {
            assert.equal(backlog.has(key, other), list.all.includes(other));
          }
        }
        assert.equal(backlog.keys, [...lists.values()].filter(({ all }) => all.length > 0).length);
      }),
    );
  });

  test('takes very many in any order', () => {
    const backlog = new Backlog();
    for (const sequence of [5, 3, 9, 3]) backlog.append(1, sequence, sequence * 10);
    backlog.append(2, 4, 40);
    backlog.sort();
    const taken: number[] = [];
    while (backlog.first(1) < Infinity) {
      taken.push(backlog.first(1));
      backlog.remove(1, backlog.first(1));
    }
    assert.deepEqual(taken, [3, 3, 5, 9]);
    assert.equal(backlog.first(2), 4);
  });

  test('names what should have come back', () => {
    const backlog = new Backlog();
    backlog.add(1, 10, 1_000);
    backlog.add(1, 11, 2_000);
    backlog.add(2, 12, 1_500);
    assert.deepEqual(backlog.overdue(1_500), []);
    assert.deepEqual(backlog.overdue(2_000), [[2, 12]]);
    assert.deepEqual(backlog.overdue(2_001), [
      [1, 10],
      [1, 11],
      [2, 12],
    ]);
  });
});
