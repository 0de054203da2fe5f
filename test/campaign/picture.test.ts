import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderPicture } from './picture.ts';

test('the picture has the longest wait of each kind of fault, or its time to recover where faults were apart', () => {
  const killed = {
    kind: 'broker killed',
    count: 3,
    waitsMs: [6_400, 6_300, 8_250],
    recoveriesMs: [],
  } as const;
  const together = renderPicture('Seed 7', { byKind: [killed] });
  assert.match(together, /broker killed \(3\)[^]*width="420\.0"[^]*width="325\.8"[^]*>8\.3</);
  const apart = renderPicture('Seed 7', { byKind: [{ ...killed, recoveriesMs: [500, 700] }] });
  assert.match(apart, /Time to recover[^]*>0\.7</);
});
