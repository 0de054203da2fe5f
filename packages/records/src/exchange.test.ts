import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBack } from '@tailrace/kafka';
import { encodeExchanges, exchangesHeader, withExchanges } from './exchange.ts';

const urls = [
  { url: 'https://a.example/', status: 400, latencyMs: 3 },
  { url: 'https://b.example/', status: 503, latencyMs: 4 },
];

test('each result gets the exchange of its URL, and none where nothing was kept', () => {
  const exchange = { address: '203.0.113.7:443', responseBody: '{"error":"no"}', omitted: 'rest' as const };
  const headers = { [exchangesHeader]: encodeExchanges([undefined, exchange]) };
  assert.deepEqual(withExchanges(urls, readBack(headers)), [urls[0], { ...urls[1], exchange }]);
  assert.equal(withExchanges(urls, readBack()), urls);
});

test('a header that is not a list of exchanges counts as none', () => {
  for (const text of ['', '{', '{}', '"text"', '[1,"two"]', '[null,null,{"address":"a"}]']) {
    assert.deepEqual(withExchanges(urls, readBack({ [exchangesHeader]: text })), urls, text);
  }
});
