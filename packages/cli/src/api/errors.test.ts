import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionError } from './errors.ts';

test('only a service on this machine can be started from here', () => {
  const adviceFor = (origin: string): string => connectionError(origin, new Error('refused')).message;
  for (const origin of ['http://localhost:8081', 'http://127.0.0.1:8081', 'http://[::1]:8081'])
    assert.match(adviceFor(origin), /refused\. Start it with `npm start`/, origin);
  assert.match(
    adviceFor('http://tailrace-control:8081'),
    /refused\. Check that it runs, or set TAILRACE_URL/,
  );
});
