import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { maskSecrets, safeText, secretsOf } from './safe-text.ts';
import { targetsOf } from './target.ts';

const mask = '********';

function secretsFor(url: string, headers: Readonly<Record<string, string>> = {}): readonly string[] {
  const settings = { webhooks: [{ url, headers }] };
  const [target] = targetsOf({ id: 'crm', type: 'Webhooks', enabled: true, sources: [], settings });
  assert.ok(target);
  return secretsOf(target);
}

test('characters that act on a terminal, or on the order of a text, are replaced; lines and tabs stay', () => {
  assert.equal(safeText('a\u001B[2J\u0000b\u009Bc'), 'a\u{FFFD}[2J\u{FFFD}b\u{FFFD}c');
  assert.equal(
    safeText('\u202Egpj.exe\u2066x\u2069\u200F\u061C'),
    '\u{FFFD}gpj.exe\u{FFFD}x\u{FFFD}\u{FFFD}\u{FFFD}',
  );
  assert.equal(safeText('\u200B\u{FEFF}\u{E0041}\u2028'), '\u{FFFD}'.repeat(4));
  assert.equal(safeText('one\r\ntwo\n\tZoë 🚀 שלום\r'), 'one\ntwo\n\tZoë 🚀 שלום\u{FFFD}');
});

test('the user name and password of Basic are masked as they are, and encoded', () => {
  const value = `Basic ${Buffer.from('ada:S3C:RET').toString('base64')}`;
  const secrets = secretsFor('https://crm.example/', { Authorization: value });
  assert.equal(maskSecrets(`no ${value}, no S3C:RET`, secrets), `no ${mask}, no ${mask}`);
});

describe('what a receiver sends back of its request is masked', () => {
  const secrets = secretsFor('https://crm.example/hook?key=k%2Fey%201&team=7', {
    Authorization: 'Bearer S3CRET"token',
    'X-Team': 'ops',
  });

  test('header values and queries, as they are, escaped, and without their scheme', () => {
    for (const [text, expected] of [
      ['got Bearer S3CRET"token', `got ${mask}`],
      ['bad token S3CRET"token!', `bad token ${mask}!`],
      [JSON.stringify({ got: 'Bearer S3CRET"token' }), `{"got":"${mask}"}`],
      [encodeURIComponent('S3CRET"token'), mask],
      ['/hook?key=k%2Fey%201&team=7', `/hook?${mask}`],
      ['key is k/ey 1', `key is ${mask}`],
      ['ops and 7 are too short to be secrets', 'ops and 7 are too short to be secrets'],
    ] as const) {
      assert.equal(maskSecrets(text, secrets), expected);
    }
  });

  test('also where the text is cut inside of a secret', () => {
    const text = 'token S3CRET"token';
    for (let length = 'token S'.length; length < text.length; length += 1) {
      const cut = text.slice(0, length);
      assert.equal(maskSecrets(cut, secrets, true), `token ${mask}`, cut);
      assert.equal(maskSecrets(cut, secrets), cut);
    }
  });
});
