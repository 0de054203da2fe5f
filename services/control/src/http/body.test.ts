import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showBody } from './body.ts';

test('a body is shown with the digits that its numbers have', () => {
  const body =
    '{"version":1,"type":"track","properties":{"id":1234567890123456789,"price":25.5,"far":1e400}}';
  assert.equal(JSON.stringify(showBody(Buffer.from(body), 'admin').body), body);
  assert.doesNotMatch(JSON.stringify(showBody(Buffer.from(body), 'read')), /1234567890123456789|25|1e400/);
});
