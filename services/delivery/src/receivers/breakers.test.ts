import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { Breakers } from './breakers.ts';

/** Breakers with a clock of their own. */
function openBreakers(isUsedBy: (destinationId: string) => boolean = () => false) {
  const time = simulateTime();
  const ignore = (): void => undefined;
  const breakers = new Breakers(10, ignore, { isUsedBy, onChange: ignore });
  return {
    breakers,
    pass: (ms: number): Promise<void> => time.pass(ms),
    /** Lets all requests to a URL fail for 10 s, so that its breaker opens; to that of each destination. */
    fail: async (destinationIds: string | readonly string[], url: string): Promise<void> => {
      for (let times = 0; times < 5; times += 1) {
        if (times > 0) await time.pass(2_500);
        for (const id of [destinationIds].flat()) breakers.permit(id, [url])[0]?.report(false);
      }
    },
    [Symbol.dispose]() {
      time[Symbol.dispose]();
    },
  };
}

function kindsOf(permits: ReturnType<Breakers['permit']>): string[] {
  return permits.map((permit) => (permit ? (permit.isProbe ? 'probe' : 'send') : 'park'));
}

describe('the breakers of an unused destination', () => {
  test('are removed if all are closed and the last requests succeeded', async () => {
    using opened = openBreakers();
    const { breakers, fail } = opened;
    for (const id of ['crm', 'erp']) {
      await fail(id, 'url');
      await opened.pass(5_000);
      breakers.permit(id, ['url'])[0]?.report(true);
    }
    breakers.forgetIdle((id) => id === 'erp');
    // A removed breaker has no history.
    assert.equal(breakers.stateOf('crm', 'url').since, -Infinity);
    assert.notEqual(breakers.stateOf('erp', 'url').since, -Infinity);
  });

  test('stay if one of them is open, or has counted a failure', async () => {
    using opened = openBreakers();
    const { breakers, fail } = opened;
    breakers.permit('erp', ['url'])[0]?.report(false);
    await fail('crm', 'url');
    breakers.permit('crm', ['other']);
    breakers.forgetIdle(() => false);
    assert.equal(breakers.isIdle('erp'), false);
    assert.equal(breakers.isIdle('crm'), false);
    assert.equal(breakers.isBlocked('crm', 'url'), true);
    assert.equal(breakers.count('open'), 1);
  });
});

test('an open URL gets the next event a second after its last failure where another URL gets it too', async () => {
  using opened = openBreakers();
  const { breakers, fail, pass } = opened;
  await fail('crm', 'down');
  assert.deepEqual(kindsOf(breakers.permit('crm', ['down', 'up'])), ['park', 'send']);
  await pass(1_000);
  assert.deepEqual(kindsOf(breakers.permit('crm', ['down'])), ['park']);
  const permits = breakers.permit('crm', ['down', 'up']);
  assert.deepEqual(kindsOf(permits), ['probe', 'send']);
  permits[0]?.report(true);
  assert.deepEqual(kindsOf(breakers.permit('crm', ['down', 'up'])), ['send', 'send']);
});

test('17.4 URLs that do not answer beside others leave probes for those that are alone', async () => {
  using opened = openBreakers();
  const { breakers, fail, pass } = opened;
  const pairs = Array.from({ length: 20 }, (_, nth) => `pair-${nth}`);
  await fail([...pairs, 'crm'], 'down');
  await pass(4_000);
  for (const id of pairs) breakers.permit(id, ['down', 'up']);
  assert.equal(breakers.count('half-open'), 5);
  await pass(1_000);
  assert.deepEqual(kindsOf(breakers.permit('crm', ['down'])), ['probe']);
});

test('URLs that are all open are probed no more often than one alone', async () => {
  using opened = openBreakers();
  const { breakers, fail, pass } = opened;
  await fail('crm', 'one');
  await fail('crm', 'two');
  await pass(1_000);
  assert.deepEqual(kindsOf(breakers.permit('crm', ['one', 'two'])), ['probe', 'park']);
});

test('a question about an unknown URL creates no breaker, which would replace one that is open', async () => {
  using opened = openBreakers();
  const { breakers, fail } = opened;
  await fail('crm', 'url');
  for (let nth = 0; nth < 20; nth += 1) {
    assert.equal(breakers.isBlocked('crm', `other-${nth}`), false);
    assert.equal(breakers.claimProbe('crm', `other-${nth}`), undefined);
    assert.deepEqual(breakers.stateOf('crm', `other-${nth}`), { state: 'closed', since: -Infinity });
  }
  assert.equal(breakers.isBlocked('crm', 'url'), true);
});

test('a probe of a URL that the proxy did not pass on shows nothing about the URL', async () => {
  using opened = openBreakers(() => true);
  const { breakers, fail, pass } = opened;
  await fail('crm', 'url');
  await pass(5_000);
  const [permit] = breakers.permit('crm', ['url']);
  assert.deepEqual(kindsOf([permit]), ['probe']);
  permit?.report(undefined);
  assert.equal(breakers.stateOf('crm', 'url').state, 'open');
  assert.equal(breakers.claimProbe('crm', 'url'), 5_000);
  assert.equal(breakers.isBlocked('crm', 'other'), false);
});

test('a proxy that is down blocks all that use it, is probed once at a time, and closes with any answer through it', async () => {
  using opened = openBreakers((id) => id !== 'direct');
  const { breakers, pass } = opened;
  for (const _nth of [1, 2, 3, 4, 5]) {
    breakers.permit('crm', ['a'])[0]?.report(undefined);
    // Its address is not allowed.
    breakers.permit('bad', ['a'])[0]?.report(true, false);
    await pass(2_500);
  }
  assert.ok(breakers.proxyOpenFor > 0);
  assert.equal(breakers.count('open'), 0);
  assert.deepEqual(kindsOf(breakers.permit('erp', ['a', 'b'])), ['park', 'park']);
  assert.deepEqual(kindsOf(breakers.permit('direct', ['a'])), ['send']);
  assert.equal(breakers.stateOf('erp', 'a').state, 'open');
  assert.equal(breakers.claimProbe('erp', 'a'), 2_500);
  assert.equal(breakers.claimProbe('crm', 'a'), undefined);
  await pass(2_500);
  const [unsent] = breakers.permit('bad', ['a']);
  assert.deepEqual(kindsOf([unsent]), ['probe']);
  unsent?.report(true, false);
  assert.ok(breakers.proxyOpenFor > 0);
  // It takes no turn of others.
  const permits = breakers.permit('erp', ['a', 'b']);
  assert.deepEqual(kindsOf(permits), ['probe', 'probe']);
  assert.deepEqual(kindsOf(breakers.permit('crm', ['a'])), ['park']);
  permits[0]?.report(false);
  assert.equal(breakers.proxyOpenFor, 0);
  assert.deepEqual(kindsOf(breakers.permit('crm', ['a'])), ['send']);
});
