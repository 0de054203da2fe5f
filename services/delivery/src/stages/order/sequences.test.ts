import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Sequences } from './sequences.ts';

describe('sequences', () => {
  test('equal a sorted list after any sequence of additions and removals', () => {
    const kind = fc.constantFrom('add', 'add', 'remove', 'takeFirst');
    const step = fc.record({ kind, sequence: fc.nat(60) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
        const sequences = new Sequences<number>();
        const list: number[] = [];
        for (const { kind, sequence } of steps) {
          if (kind === 'add') {
            sequences.add(sequence);
            list.push(sequence);
            list.sort((a, b) => a - b);
          } else if (kind === 'remove') {
            sequences.remove(sequence);
            const place = list.indexOf(sequence);
            if (place >= 0) list.splice(place, 1);
          } else assert.equal(sequences.takeFirst(), list.shift());
          assert.deepEqual(sequences.toArray(), list);
          assert.deepEqual([sequences.size, sequences.first], [list.length, list[0]]);
          const copies = list.filter((other) => other === sequence).length;
          assert.equal(sequences.has(sequence, 1), copies >= 1);
          assert.equal(sequences.has(sequence, 2), copies >= 2);
        }
      }),
    );
  });

  test('move few of 100,000 items for changes at both ends and near the front', () => {
    const sequences = new Sequences<number>();
    const count = 100_000;
    let moved = 0;
    for (let sequence = 0; sequence < count; sequence += 1) moved += sequences.add(sequence);
    assert.equal(moved, 0);
    for (let step = 0; step < 1_000; step += 1) {
      moved += sequences.remove(0) + sequences.add(0);
      moved += sequences.remove(5) + sequences.add(5);
    }
    assert.ok(moved <= 2 * count, `${moved}`);
    moved = 0;
    for (let sequence = 0; sequence < count; sequence += 1) moved += sequences.remove(sequence);
    assert.ok(moved <= count, `${moved}`);
    assert.equal(sequences.size, 0);
  });
});
