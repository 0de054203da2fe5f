import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanEndpoint, defaultEndpoint, snippets } from './snippets.ts';

test('every snippet has the address and the write key', () => {
  const place = { endpoint: 'https://events.example.com', writeKey: 'wk_1' };
  for (const { name, code } of snippets) {
    assert.ok(code(place).includes(place.endpoint) && code(place).includes(place.writeKey), name);
  }
});

test('an address that is more than an address makes no snippet', () => {
  assert.equal(cleanEndpoint(' https://events.example.com/tail/ '), 'https://events.example.com/tail');
  assert.equal(cleanEndpoint('http://[::1]:8080'), 'http://[::1]:8080');
  for (const typed of [
    '',
    'events.example.com',
    "https://a.example/'",
    'https://a.example/;x',
    'https://a/$(x)',
  ])
    assert.equal(cleanEndpoint(typed), undefined, typed);
});

test('without a setting ingest is assumed beside the console', () => {
  assert.equal(defaultEndpoint(new URL('http://10.0.0.7:8081/console/'), 18_080), 'http://10.0.0.7:18080');
});
