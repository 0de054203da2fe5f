import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noHealthFacts, type HealthFacts } from '@tailrace/history';
import { healthOf, type HealthState } from './health.ts';

const on = { enabled: true };
const of = (delivered: number, retry = 0, dead = 0) => ({ delivered, retry, dead });

/** A healthy destination but for `facts`. */
function stateOf(facts: Partial<HealthFacts>, settings = on): HealthState {
  return healthOf(settings, { ...noHealthFacts, attempts: of(100), ...facts });
}

test('settings come before everything that is known of a destination', () => {
  const failing = { attempts: of(0, 0, 9), parked: 3 };
  assert.equal(stateOf(failing, { enabled: false }), 'disabled');
  assert.equal(healthOf({ enabled: false, paused: true }, { ...noHealthFacts, ...failing }), 'disabled');
  assert.equal(healthOf({ enabled: true, paused: true }, { ...noHealthFacts, ...failing }), 'paused');
});

test('a destination without attempts has no traffic, and one whose attempts succeed is healthy', () => {
  assert.equal(healthOf(on, noHealthFacts), 'no-traffic');
  assert.equal(stateOf({}), 'healthy');
  assert.equal(stateOf({ attempts: of(100, 2, 1) }), 'healthy');
  assert.equal(stateOf({ pending: 5 }), 'healthy', 'what waits in the first queue has not failed');
});

test('a destination is failing while a circuit breaker holds deliveries back', () => {
  assert.equal(stateOf({ parked: 1, retrying: 1, pending: 1 }), 'failing');
});

test('a destination is failing if at least half of its attempts fail', () => {
  assert.equal(stateOf({ attempts: of(3, 3) }), 'failing');
  assert.equal(stateOf({ attempts: of(4, 3) }), 'healthy');
  assert.equal(stateOf({ attempts: of(4, 1, 3) }), 'failing');
  assert.equal(stateOf({ attempts: of(0, 0, 1) }), 'failing', 'the only event is lost');
});

test('one or two attempts that are retried are not a failing destination', () => {
  assert.equal(stateOf({ attempts: of(0, 2), retrying: 2, pending: 2 }), 'retrying');
  assert.equal(stateOf({ attempts: of(0, 3), retrying: 3, pending: 3 }), 'failing');
});

test('deliveries that wait after a failure are retried, whenever they failed', () => {
  assert.equal(stateOf({ attempts: of(100, 2), retrying: 2, pending: 7 }), 'retrying');
  assert.equal(stateOf({ attempts: of(0), retrying: 2, pending: 2 }), 'retrying');
});

test('the last quarter of an hour tells more than the hour, where it has enough attempts', () => {
  const hour = of(10, 50);
  assert.equal(stateOf({ attempts: hour, recent: of(10) }), 'healthy');
  assert.equal(stateOf({ attempts: hour, recent: of(2) }), 'failing');
  assert.equal(stateOf({ attempts: of(100, 5), recent: of(0, 5) }), 'failing');
});
