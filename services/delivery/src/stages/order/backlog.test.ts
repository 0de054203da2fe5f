import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Backlog, BacklogBuilder } from './backlog.ts';

describe('the backlog', () => {
  const step = fc.record({
    kind: fc.constantFrom('add', 'add', 'remove'),
    key: fc.integer({ min: 1, max: 3 }),
    sequence: fc.nat(20),
    until: fc.nat(100),
  });

  test('has, like a complete list, the first of each key, until when it waits, and the copies', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100, size: 'max' }), (steps) => {
        const backlog = new Backlog();
        const lists = new Map([1, 2, 3].map((key) => [key, { all: [] as number[], until: 0 }]));
        for (const { kind, key, sequence, until } of steps) {
          const list = lists.get(key);
          assert.ok(list);
          if (kind === 'add') {
            backlog.add(key, sequence, until);
            list.all.push(sequence);
            if (Math.min(...list.all) === sequence) list.until = until;
          } else {
            backlog.remove(key, sequence);
            const place = list.all.indexOf(sequence);
            if (place >= 0) list.all.splice(place, 1);
            if (list.all.length === 0) list.until = 0;
          }
          assert.equal(backlog.first(key), Math.min(...list.all));
          assert.equal(backlog.until(key), list.until);
          for (let other = 0; other <= 20; other += 1) {
            const copies: number = list.all.filter((each) => each === other).length;
            assert.equal(backlog.has(key, other), copies >= 1);
            assert.equal(backlog.has(key, other, 2), copies >= 2);
          }
        }
        assert.equal(backlog.keys, [...lists.values()].filter(({ all }) => all.length > 0).length);
      }),
    );
  });

  test('accepts very many in any order', () => {
    const builder = new BacklogBuilder();
    for (const sequence of [5, 3, 9, 3]) builder.add(1, sequence, sequence * 10);
    builder.add(2, 4, 40);
    const backlog = builder.build();
    const taken: number[] = [];
    while (backlog.first(1) < Infinity) {
      taken.push(backlog.first(1));
      backlog.remove(1, backlog.first(1));
    }
    assert.deepEqual(taken, [3, 3, 5, 9]);
    assert.equal(backlog.first(2), 4);
    assert.equal(backlog.until(2), 40);
  });

  test('has the time of the first of very many', () => {
    const builder = new BacklogBuilder();
    for (const sequence of [5, 3, 9]) builder.add(1, sequence, sequence * 10);
    const backlog = builder.build();
    assert.equal(backlog.until(1), 30);
  });

  test('returns overdue deliveries', () => {
    const backlog = new Backlog();
    backlog.add(1, 10, 1_000);
    backlog.add(1, 11, 2_000);
    backlog.add(2, 12, 1_500);
    assert.deepEqual(backlog.overdue(1_000), []);
    assert.deepEqual(backlog.overdue(1_500), [
      [1, 10],
      [1, 11],
    ]);
    assert.deepEqual(backlog.overdue(1_501), [
      [1, 10],
      [1, 11],
      [2, 12],
    ]);
  });
});
