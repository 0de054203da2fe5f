import assert from 'node:assert/strict';
import test from 'node:test';
import type { Arrivals } from '../receivers/receiver.ts';
import { accountFor, describeAccount, isSound } from './account.ts';
import { createWave, inTurn } from './wave.ts';

const wave = createWave(0, inTurn(5, [0]));

function arrivedAt(...receivedAt: number[]): Arrivals {
  return { receivedAt: Float64Array.from(receivedAt), repeated: 0, unexpected: 0, samples: [] };
}

test('each delivery has arrived, is dead, is unfinished or is lost', () => {
  const copies = {
    deadFor: ['circuit-open', '', 'circuit-open', '', ''],
    unfinished: Uint8Array.from([0, 1, 0, 1, 0]),
  };
  const account = accountFor(wave, arrivedAt(1, 2, NaN, NaN, NaN), copies, 's');
  const { arrived, dead, unfinished, lost, deadReasons } = account;
  assert.deepEqual({ arrived, dead, unfinished, lost }, { arrived: 2, dead: 1, unfinished: 1, lost: 1 });
  assert.deepEqual(deadReasons, { 'circuit-open': 1 });
  assert.ok(!isSound(account));
  assert.match(describeAccount(account), /^NOT SOUND: 5 written, 2 arrived, 1 dead \(circuit-open 1\)/);
});

test('a wave is sound if no delivery is lost; repeats are allowed', () => {
  const copies = { deadFor: ['', '', '', '', ''], unfinished: new Uint8Array(5) };
  const account = accountFor(wave, { ...arrivedAt(1, 1, 1, 1, 1), repeated: 2 }, copies, 's');
  assert.ok(isSound(account));
  assert.ok(!isSound({ ...account, unexpected: 1 }));
});
