import assert from 'node:assert/strict';
import test from 'node:test';
import { hotSpots } from './hot-spots.ts';

const frame = (functionName: string, url = '', lineNumber = -1) => ({ functionName, url, lineNumber });

test('hot spots are shares of busy time, summed over all call paths of a function, hottest first', () => {
  const parse = frame('parse', 'file:///repo/services/ingest/src/server.ts', 11);
  const profile = {
    nodes: [
      { id: 1, callFrame: frame('(idle)') },
      { id: 2, callFrame: parse },
      { id: 3, callFrame: frame('', 'node:net', 4) },
      { id: 4, callFrame: parse },
    ],
    samples: [1, 2, 3, 4],
    timeDeltas: [5_000, 100, 250, 150],
  };
  const anonymous = { where: '(anonymous) (node:net:5)', share: 0.5 };
  const parsing = { where: 'parse (services/ingest/src/server.ts:12)', share: 0.5 };
  assert.deepEqual(hotSpots(profile, '/repo', 5), [parsing, anonymous]);
  assert.deepEqual(hotSpots(profile, '/repo', 1), [parsing]);
});
