import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import {
  headerNameProblem,
  headerValueProblem,
  isSecretHeaderName,
  secretHeaderName,
  webhookUrlProblem,
} from './webhook.ts';

test('a webhook may have any full URL with http or https', () => {
  for (const url of [
    'https://example.com/hook',
    'http://example.com',
    'HTTPS://Example.COM:8443/a/b?c=d&e=%20#f',
    'http://127.0.0.1:8080/',
    'http://[::1]:8080/hook',
    'https://bücher.example/straße',
    `https://example.com/${'a'.repeat(2_028)}`,
  ]) {
    assert.equal(webhookUrlProblem(url), undefined, url);
  }
});

test('a URL that is no webhook is refused with the reason', () => {
  const cases: [url: string, reason: RegExp][] = [
    ['ftp://example.com/hook', /neither http nor https/],
    ['javascript:alert(1)', /neither http nor https/],
    ['mailto:somebody@example.com', /neither http nor https/],
    ['example.com/hook', /not a full URL/],
    ['/hook', /not a full URL/],
    ['//example.com/hook', /not a full URL/],
    ['http:example.com', /not a full URL/],
    ['https:///hook', /not a full URL/],
    ['https://', /not a full URL/],
    ['https://example.com:99999/', /not a full URL/],
    ['https://exa mple.com/', /space or a control character/],
    [' https://example.com/', /space or a control character/],
    ['https://example.com/a\nb', /space or a control character/],
    ['https://example.com/a\u0000', /space or a control character/],
    ['https://user:pass@example.com/', /user name or password/],
    ['https://user@example.com/', /user name or password/],
    ['https://:pass@example.com/', /user name or password/],
    ['', /not a full URL/],
    [`https://example.com/${'a'.repeat(2_029)}`, /longer than 2048/],
  ];
  for (const [url, reason] of cases) assert.match(webhookUrlProblem(url) ?? 'accepted', reason, url);
});

test('a static header may have any name that is a token', () => {
  for (const name of ['X-Team', 'Authorization', 'x', "!#$%&'*+-.^_`|~09az", 'Hosting', 'X-Connection']) {
    assert.equal(headerNameProblem(name), undefined, name);
  }
});

test('headers that Tailrace sets, and those of the connection, are rejected, ignoring case', () => {
  for (const name of [
    'Host',
    'Content-Length',
    'Content-Type',
    'User-Agent',
    'X-Signature',
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
  ]) {
    assert.match(headerNameProblem(name) ?? 'accepted', /set by Tailrace/, name);
    assert.match(headerNameProblem(name.toUpperCase()) ?? 'accepted', /set by Tailrace/, name);
  }
  for (const name of [
    'Connection',
    'Keep-Alive',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Expect',
  ]) {
    assert.match(headerNameProblem(name) ?? 'accepted', /belongs to the connection/, name);
    assert.match(headerNameProblem(name.toLowerCase()) ?? 'accepted', /belongs to the connection/, name);
  }
});

test('a header name must be a token', () => {
  for (const name of ['', 'X Team', 'X-Team:', 'X\r\nY', 'Ümlaut', 'a/b', 'a(b)', '"a"', 'a@b']) {
    assert.match(headerNameProblem(name) ?? 'accepted', /not the name of a header/, name);
  }
  assert.match(headerNameProblem('x'.repeat(129)) ?? 'accepted', /longer than 128/);
});

test('the value of a header is visible ASCII with spaces and tabs inside', () => {
  for (const value of ['', 'growth', 'Bearer a.b-c_d=', 'a b\tc', '~!@#$%^&*(){}"\\']) {
    assert.equal(headerValueProblem(value), undefined, value);
  }
  const cases: [value: string, reason: RegExp][] = [
    ['a\r\nX-Injected: b', /line break or NUL/],
    ['a\nb', /line break or NUL/],
    ['a\rb', /line break or NUL/],
    ['a\u0000b', /line break or NUL/],
    ['a\u0007b', /not visible ASCII/],
    ['a\u007fb', /not visible ASCII/],
    ['grüße', /not visible ASCII/],
    ['日本', /not visible ASCII/],
    [' a', /white space/],
    ['a\t', /white space/],
    ['a'.repeat(4_097), /longer than 4096/],
  ];
  for (const [value, reason] of cases) assert.match(headerValueProblem(value) ?? 'accepted', reason, value);
});

test('a header is secret if a word of its name says so, ignoring case', () => {
  const secret =
    'Authorization X-Authorization Proxy-Authorization cookie X-Cookies Key X-Key X_KEY_2 X-Keys X-Api-Key apikey X-ApiKey xApiKey ' +
    'x-functions-key X-AccessKey Ocp-Apim-Subscription-Key X-Auth-Token authtoken X-Token-Id X-CSRFToken X-Gitlab-Token X-Secret ' +
    'X-MasterKey X-WebhookKey X-ClientSecret X-Password password X-User.Password';
  const plain =
    'X-Team Accept X-Monkey-Id X-Turkey X-Keyboard Keyed X-Keyring X-Tokenizer X-Secretary X-Passwordless Cookiecutter X-Author';
  assert.deepEqual(secret.split(' ').filter(isSecretHeaderName), secret.split(' '));
  assert.deepEqual(plain.split(' ').filter(isSecretHeaderName), []);
});

test('the chart refuses the same headers in a ConfigMap', () => {
  const chart = new URL('../../../../../infra/chart/templates/_checks.tpl', import.meta.url);
  assert.ok(readFileSync(chart, 'utf8').includes(`"(?i)${secretHeaderName}"`));
});
