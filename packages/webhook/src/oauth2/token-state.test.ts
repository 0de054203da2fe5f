/** The states of a token, on a clock of the test's own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFetching, nextState, noToken, type TokenEvent, type TokenState } from './token-state.ts';

const needed: TokenEvent = { kind: 'needed' };
const failure = { reason: 'token-unavailable', detail: 'it is down' } as const;
const failed: TokenEvent = { kind: 'failed', failure };
const fetched = (token: string, seconds = 100): TokenEvent => ({
  kind: 'fetched',
  token,
  lifetimeMs: seconds * 1_000,
});
const rejected = (token: string): TokenEvent => ({ kind: 'rejected', token });

type Step = readonly [second: number, event: TokenEvent];

/** The state after events at these seconds. */
function after(...events: readonly Step[]): TokenState {
  return events.reduce((state, [second, event]) => nextState(state, event, second * 1_000), noToken);
}
const kindAfter = (...events: readonly Step[]): string => after(...events).kind;

const valid: readonly Step[] = [
  [0, needed],
  [1, fetched('a')],
];

test('the first request that needs a token fetches it, and the others wait for the same', () => {
  const fetching = after([0, needed]);
  assert.equal(fetching.kind, 'fetching');
  assert.equal(nextState(fetching, needed, 5_000), fetching);
  const state = after(...valid);
  assert.ok(state.kind === 'valid');
  assert.deepEqual([state.token, state.renewFrom, state.until], ['a', 75_000, 90_000]);
});

test('a token is renewed when a quarter of its lifetime is left, and used meanwhile', () => {
  assert.equal(kindAfter(...valid, [74, needed]), 'valid');
  const renewing = after(...valid, [75, needed]);
  assert.ok(renewing.kind === 'renewing');
  assert.equal(renewing.token, 'a');
  assert.equal(nextState(renewing, needed, 80_000), renewing);
  const renewed = nextState(renewing, fetched('b'), 76_000);
  assert.ok(renewed.kind === 'valid');
  assert.deepEqual([renewed.token, renewed.until], ['b', 165_000]);
});

test('a renewal that fails is tried again after a while, and costs nothing as long as the token is valid', () => {
  const again: readonly Step[] = [...valid, [75, needed], [76, failed]];
  assert.equal(kindAfter(...again, [85, needed]), 'valid');
  assert.equal(kindAfter(...again, [86, needed]), 'renewing');
  assert.equal(kindAfter(...again, [90, needed]), 'fetching');
  assert.equal(kindAfter(...valid, [75, needed], [91, failed]), 'refused');
  // The one that is under way is waited for, once the token has ended.
  assert.equal(kindAfter(...valid, [75, needed], [90, needed]), 'fetching');
});

test('after a failure requests get its reason for a second, without another request', () => {
  const refused = after([0, needed], [1, failed]);
  assert.deepEqual(refused, { kind: 'refused', failure, until: 2_000 });
  assert.equal(nextState(refused, needed, 1_999), refused);
  assert.equal(nextState(refused, needed, 2_000).kind, 'fetching');
});

test('a token that a receiver refuses is replaced once, however many requests it refuses', () => {
  const replacing = after(...valid, [2, rejected('a')]);
  assert.equal(replacing.kind, 'fetching');
  assert.equal(nextState(replacing, rejected('a'), 2_000), replacing);
  const replaced = nextState(replacing, fetched('b'), 3_000);
  for (const late of [3_000, 60_000]) assert.equal(nextState(replaced, rejected('a'), late), replaced);
  assert.equal(nextState(replaced, rejected('b'), 12_999), replaced);
  assert.equal(nextState(replaced, rejected('b'), 13_000).kind, 'fetching');
});

test('a refused token that is renewed already waits for the new one', () => {
  const state = after(...valid, [75, needed], [76, rejected('a')]);
  assert.deepEqual(state, { kind: 'fetching', since: 75_000, isReplacement: true });
});

test('a token of no time serves those who waited for it, and the next one fetches again', () => {
  for (const seconds of [0, -5]) {
    const state = after([0, needed], [1, fetched('a', seconds)]);
    assert.equal(state.kind, 'valid');
    assert.equal(nextState(state, needed, 1_000).kind, 'fetching');
  }
});

test('whatever happens in whatever order, a fetch ends by its own result alone', () => {
  const events = [needed, failed, fetched('a'), fetched('b'), rejected('a'), rejected('b')];
  const seen = new Set<string>();
  let states: readonly TokenState[] = [noToken];
  for (let second = 0; second < 200; second += 20) {
    const next = new Map<string, TokenState>();
    for (const state of states) {
      for (const event of events) {
        const to = nextState(state, event, second * 1_000);
        const ends = event.kind === 'fetched' || event.kind === 'failed';
        if (isFetching(state) && !ends) assert.ok(isFetching(to), `${state.kind} ${event.kind}`);
        if (!isFetching(state) && ends) assert.equal(to, state);
        seen.add(to.kind);
        next.set(JSON.stringify(to), to);
      }
    }
    states = [...next.values()].slice(0, 200);
  }
  assert.deepEqual([...seen].sort(), ['fetching', 'none', 'refused', 'renewing', 'valid']);
});
