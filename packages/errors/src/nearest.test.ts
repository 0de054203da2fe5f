import assert from 'node:assert/strict';
import test from 'node:test';
import { nearestName } from './nearest.ts';

const names = ['id', 'enabled', 'sources', 'settings', 'sharedSecret', 'webhooks'];

test('a name one or two typing errors away is found, ignoring case', () => {
  const cases = {
    enable: 'enabled',
    enbaled: 'enabled',
    SOURCES: 'sources',
    setting: 'settings',
    webhoks: 'webhooks',
    sharedsecert: 'sharedSecret',
    ib: 'id',
  };
  for (const [mistyped, meant] of Object.entries(cases)) assert.equal(nearestName(mistyped, names), meant);
});

test('a name that differs too much is not suggested', () => {
  for (const other of ['url', 'xy', 'destination', 'enablement', '']) {
    assert.equal(nearestName(other, names), undefined, other);
  }
});

test('the nearest of several names is suggested', () => {
  assert.equal(nearestName('source', ['resource', 'sourcing', 'sources']), 'sources');
});
