import assert from 'node:assert/strict';
import test from 'node:test';
import { nearestName } from './nearest.ts';

const names = ['id', 'enabled', 'sources', 'settings', 'sharedSecret', 'webhooks'];

test('the name one or two slips away is found, whatever the case', () => {
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

test('nothing is suggested that shares too little with what was written', () => {
  for (const other of ['url', 'xy', 'destination', 'enablement', '']) {
    assert.equal(nearestName(other, names), undefined, other);
  }
});

test('of several, the nearest is suggested', () => {
  assert.equal(nearestName('source', ['resource', 'sourcing', 'sources']), 'sources');
});
