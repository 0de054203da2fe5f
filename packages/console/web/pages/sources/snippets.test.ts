import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { cleanEndpoint, curlOf, defaultEndpoint, snippets } from './snippets.ts';

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

const place = { endpoint: 'http://localhost:8080', writeKey: 'wk_1' };

/** The words that a shell makes of a command. */
function wordsOf(command: string): string[] {
  const shown = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' });
  return shown.split('\0').slice(0, -1);
}

test('an accepted call is sent again as a new event, with every digit', () => {
  const content =
    '{"type":"track","messageId":"m\\"1","timestamp":"2026-11-21T09:43:25.118Z","receivedAt":"2026-11-21T09:43:25.118Z",' +
    '"sentAt":"2026-11-21T09:43:25.118Z","userId":"ada","event":"e","properties":{"total":12345678901234567890}}';
  assert.deepEqual(wordsOf(curlOf(place, content) ?? ''), [
    'curl',
    'http://localhost:8080/v1/track',
    '-u',
    'wk_1:',
    '-H',
    'Content-Type: application/json',
    '-d',
    '{"userId":"ada","event":"e","properties":{"total":12345678901234567890}}',
  ]);
});

test('whatever a sender has chosen stays one word, and shows what it is', () => {
  const event = "'; rm -rf / #`$(id)\n\\\u202e\u0007\u2028é😀";
  const command = curlOf(place, JSON.stringify({ type: 'page', event }, undefined, 2)) ?? '';
  assert.match(command, /^[ -~\n]+$/);
  const words = wordsOf(command);
  assert.equal(words.length, 8);
  assert.deepEqual(JSON.parse(words[7] ?? ''), { type: 'page', event });
});

test('what is no call has no command', () => {
  for (const content of ['', '{', 'null', '[]', '{"type":"../batch"}', '{"event":"e"}']) {
    assert.equal(curlOf(place, content), undefined, content);
  }
});
