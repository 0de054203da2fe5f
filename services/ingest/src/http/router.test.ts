import assert from 'node:assert/strict';
import { test } from 'node:test';
import { success } from './answer.ts';
import { documentOperation } from './openapi.ts';
import { createRouter, type Route } from './router.ts';

function route(name: Route['name'], method: Route['method'], paths: Route['paths']): Route {
  return { name, method, paths, operation: documentOperation, handle: () => success };
}

const find = createRouter([
  route('track', 'POST', ['/v1/track', '/v1/t']),
  route('pixel', 'GET', ['/v1/pixel/track']),
  route('settings', 'GET', ['/v1/projects/{writeKey}/settings']),
]);
const nameOf = (method: string, url: string): string | undefined => find(method, url)?.route.name;

test('a path matches in each of its forms, with additional slashes, a query or a host', () => {
  for (const url of [
    '/v1/track',
    '/v1/t',
    '/v1/track/',
    '//v1/track',
    '/v1//t//',
    '/v1/t?sdk=x',
    '/v1/track/?',
    'http://in.example.com/v1/track',
    'https://in.example.com:8443//v1/t/?a=b',
  ]) {
    assert.equal(nameOf('POST', url), 'track', url);
  }
});

test('another method, another case and similar paths do not match', () => {
  for (const [method, url] of [
    ['GET', '/v1/track'],
    ['HEAD', '/v1/pixel/track'],
    ['POST', '/v1/Track'],
    ['POST', '/v1/track/more'],
    ['POST', '/v1'],
    ['POST', '/'],
    ['POST', ''],
    ['POST', '*'],
    ['POST', '/v1/track#t'],
    ['GET', '/v1/projects//settings'],
    ['GET', '/v1/projects/a/b/settings'],
    ['GET', '/v1/projects/%/settings'],
  ] as const) {
    assert.equal(nameOf(method, url), undefined, url);
  }
});

test('parameters and the query are decoded', () => {
  const settings = find('GET', '/v1/projects/wk%2Fa%20b/settings/?x=1');
  assert.deepEqual(settings?.target.parameters, { writeKey: 'wk/a b' });
  assert.equal(find('GET', '/v1/pixel/track?data=a%2Bb')?.target.query.get('data'), 'a+b');
});
