/** The files of the console, as control serves them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readConsole } from '@tailrace/console';
import { openApi, type Api } from '../testing/api.ts';

let control: Api;
before(async () => {
  control = await openApi();
});
after(() => control[Symbol.asyncDispose]());

test('the console is served at / without a token, and permits only what this server has', async () => {
  const { status, headers, text } = await control.ask({ path: '/', token: null });
  assert.equal(status, 200, text);
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  assert.doesNotMatch(text, /<script(?![^>]*src=)|<style| style=| on\w+=/);
  assert.doesNotMatch(text, /(src|href)="(?!\.\/)/, 'every address is relative');
});

test('files with a hash in their name are kept for a year, the page is asked for each time', async () => {
  const page = await control.ask({ path: '/', token: null });
  assert.equal(page.headers.get('cache-control'), 'no-cache');
  const again = await control.ask({ path: '/', token: null, headers: { 'if-none-match': page.etag } });
  assert.equal(again.status, 304);
  const names = [...readConsole().keys()].filter((name) => name.startsWith('assets/'));
  assert.ok(names.length > 2);
  for (const name of names) {
    const { status, headers } = await control.ask({ path: `/${name}`, token: null });
    assert.equal(status, 200, name);
    assert.match(headers.get('cache-control') ?? '', /immutable/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
  }
});

test('files are sent compressed to those who accept it', async () => {
  for (const [accepted, encoding] of [
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['identity', null],
  ] as const) {
    const { headers } = await control.ask({
      path: '/',
      token: null,
      headers: { 'accept-encoding': accepted },
    });
    assert.equal(headers.get('content-encoding'), encoding);
  }
});

test('only GET and HEAD are allowed, and an unknown file is not found', async () => {
  await control.refused({ path: '/', method: 'POST', token: null }, 405, 'method-not-allowed');
  await control.refused({ path: '/assets/nothing.js', token: null }, 404, 'not-found');
  await control.refused({ path: '/assets/..%2f..%2fpackage.json', token: null }, 404, 'not-found');
});
