/** How names become addresses, with name servers on loopback that answer, dawdle, drop and refuse. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createNameLookup,
  type NameLookup,
  type NameLookupOptions,
  type NameSettings,
} from '@tailrace/webhook';
import { startNameServer, type NameAnswer, type NameServer } from '../support/name-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { openSender, post } from '../support/sender.ts';

type Options = Omit<NameLookupOptions, 'settings'> & Partial<NameSettings>;

/** A look-up that knows of these name servers only. */
function lookupAt(servers: readonly NameServer[], options: Options = {}): NameLookup {
  const {
    hosts = new Map(),
    search = [],
    ndots = 1,
    otherSources = false,
    families = [4],
    ...rest
  } = options;
  const addresses = servers.map(({ address }) => address);
  const settings = { hosts, search, ndots, otherSources, families, servers: addresses };
  return createNameLookup({ ...rest, settings: () => settings });
}

async function addressesOf(lookup: NameLookup, hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname)).map(({ address }) => address);
}

/** On a machine that is too busy to read its answers in time, a name may fail and is asked for again. */
async function addressesAtLast(lookup: NameLookup, hostname: string): Promise<readonly string[]> {
  for (;;) {
    try {
      return await addressesOf(lookup, hostname);
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'EAI_AGAIN');
    }
  }
}

const good = ['192.0.2.1'];
const isDead = (name: string): boolean => name.startsWith('dead');
const namesOf = (what: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${what}-${index}.example`);

test('two thousand new names resolve', async () => {
  await using server = await startNameServer(() => good);
  const lookup = lookupAt([server], { backOffMs: 0 });
  const all = await Promise.all(namesOf('new', 2_000).map((name) => addressesAtLast(lookup, name)));
  assert.ok(all.every(([address]) => address === good[0]));
});

describe('a name that fails', () => {
  for (const [how, code] of [
    ['silence', 'EAI_AGAIN'],
    ['server-failure', 'EAI_AGAIN'],
    ['refused', 'EAI_AGAIN'],
    ['no-such-name', 'ENOTFOUND'],
  ] as const) {
    test(`with ${how} has failed with ${code}, and is left alone for a while`, async () => {
      await using server = await startNameServer(() => how);
      const lookup = lookupAt([server], { giveUpMs: 500 });
      await assert.rejects(lookup('a.example'), { code });
      const asked = server.asked('a.example');
      for (let count = 0; count < 100; count += 1) await assert.rejects(lookup('a.example'), { code });
      // c-ares goes on with what it has begun.
      if (how !== 'silence') assert.equal(server.asked('a.example'), asked);
    });
  }

  test('is asked for again afterwards', async () => {
    let answer: NameAnswer = 'server-failure';
    await using server = await startNameServer(() => answer);
    const lookup = lookupAt([server], { backOffMs: 0 });
    await assert.rejects(lookup('a.example'), { code: 'EAI_AGAIN' });
    answer = good;
    assert.deepEqual(await addressesOf(lookup, 'a.example'), good);
  });

  test('keeps the addresses it had', async () => {
    let answer: NameAnswer = good;
    await using server = await startNameServer(() => answer);
    const lookup = lookupAt([server], { freshMs: 0 });
    await lookup('a.example');
    for (answer of ['server-failure', 'silence'] as const) {
      assert.deepEqual(await addressesOf(lookup, 'a.example'), good);
    }
  });
});

describe('of several name servers', () => {
  test('a dead one is passed over', async () => {
    await using dead = await startNameServer(() => 'silence');
    await using server = await startNameServer(() => good);
    const lookup = lookupAt([dead, server]);
    const names = namesOf('new', 200);
    const all = await Promise.all(names.map((name) => addressesOf(lookup, name)));
    assert.ok(all.every(([address]) => address === good[0]));
    const asked = dead.questions.length;
    assert.ok(asked > 0);
    // Now that it is known.
    await Promise.all(namesOf('later', 200).map((name) => lookup(name)));
    assert.ok(dead.questions.length < asked + 100, `${dead.questions.length - asked} more`);
  });

  for (const how of ['server-failure', 'refused'] as const) {
    test(`the next is asked where the first answers ${how}`, async () => {
      await using broken = await startNameServer(() => how);
      await using server = await startNameServer(({ name }) => (isDead(name) ? 'no-such-name' : good));
      const lookup = lookupAt([broken, server]);
      assert.deepEqual(await addressesOf(lookup, 'a.example'), good);
      await assert.rejects(lookup('dead.example'), { code: 'ENOTFOUND' });
    });
  }
});

describe('an answer', () => {
  test('that is too long for UDP comes over TCP', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `192.0.2.${index}`);
    await using server = await startNameServer(({ over }) => (over === 'udp' ? 'too-long' : many));
    assert.deepEqual(await addressesOf(lookupAt([server]), 'a.example'), many);
  });

  test('has the addresses of both families, the preferred one first', async () => {
    const both = ['192.0.2.1', '2001:db8::1'];
    await using server = await startNameServer(() => both);
    assert.deepEqual(await addressesOf(lookupAt([server], { families: [4, 6] }), 'a.example'), both);
    assert.deepEqual(
      await addressesOf(lookupAt([server], { families: [6, 4] }), 'a.example'),
      both.toReversed(),
    );
  });

  for (const how of ['silence', 'server-failure', 'no-such-name'] as const) {
    test(`of one family is enough where there is ${how} for the other`, async () => {
      await using server = await startNameServer(({ type }) => (type === 'A' ? good : how));
      assert.deepEqual(await addressesOf(lookupAt([server], { families: [6, 4] }), 'a.example'), good);
    });
  }

  test('without an address is no such name', async () => {
    await using server = await startNameServer(() => []);
    await assert.rejects(lookupAt([server], { families: [4, 6] })('a.example'), { code: 'ENOTFOUND' });
  });
});

describe('a name is asked for as the C library would', () => {
  const kubernetes = { search: ['ns.svc.cluster.local', 'svc.cluster.local'], ndots: 5 };
  const cases: readonly [what: string, hostname: string, options: Options, asked: readonly string[]][] = [
    [
      'with few dots, with the search domains first',
      'hooks.example',
      kubernetes,
      [...['hooks.example.ns.svc.cluster.local', 'hooks.example.svc.cluster.local', 'hooks.example']],
    ],
    [
      'with enough dots, as it is first',
      'a.b.c.d.e.f',
      kubernetes,
      [...['a.b.c.d.e.f', 'a.b.c.d.e.f.ns.svc.cluster.local', 'a.b.c.d.e.f.svc.cluster.local']],
    ],
    ['with a dot at its end, as it is only', 'hooks.example.', kubernetes, ['hooks.example']],
    ['without a search list, as it is only', 'hooks', {}, ['hooks']],
  ];
  for (const [what, hostname, options, asked] of cases) {
    test(what, async () => {
      await using server = await startNameServer(() => 'no-such-name');
      await assert.rejects(lookupAt([server], options)(hostname), { code: 'ENOTFOUND' });
      assert.deepEqual(
        server.questions.map(({ name }) => name),
        asked,
      );
    });
  }

  test('and the first that has an address ends it', async () => {
    await using server = await startNameServer(({ name }) =>
      name === 'receiver.ns.svc.cluster.local' ? good : 'no-such-name',
    );
    assert.deepEqual(await addressesOf(lookupAt([server], kubernetes), 'receiver'), good);
    assert.equal(server.questions.length, 1);
  });

  test('and a search domain that fails does not hide the name as it is', async () => {
    await using server = await startNameServer(({ name }) =>
      name === 'hooks.example' ? good : name.includes('.ns.') ? 'silence' : 'server-failure',
    );
    const lookup = lookupAt([server], { ...kubernetes, giveUpMs: 30_000 });
    assert.deepEqual(await addressesOf(lookup, 'hooks.example'), good);
    assert.equal(server.asked('hooks.example.svc.cluster.local'), 0);
  });

  test('but not where the hosts file has it, nor where it is this machine', async () => {
    await using server = await startNameServer(() => 'no-such-name');
    const hosts = new Map([['receiver.example', [{ address: '10.0.0.7', family: 4 }]]]);
    const lookup = lookupAt([server], { hosts });
    assert.deepEqual(await addressesOf(lookup, 'receiver.example'), ['10.0.0.7']);
    assert.deepEqual(await addressesOf(lookup, 'receiver.example.'), ['10.0.0.7']);
    assert.deepEqual(await addressesOf(lookup, 'localhost'), ['127.0.0.1', '::1']);
    assert.deepEqual(await addressesOf(lookup, 'app.localhost'), ['127.0.0.1', '::1']);
    assert.equal(server.questions.length, 0);
  });

  test('and of the system itself only what is found nowhere else, where it has other sources', async () => {
    await using server = await startNameServer(({ name }) =>
      name === 'failing.local' ? 'server-failure' : name === 'found.local' ? good : 'no-such-name',
    );
    const asked: string[] = [];
    const askSystem: NameLookup = (hostname) => {
      asked.push(hostname);
      return Promise.resolve([{ address: '10.0.0.7', family: 4 }]);
    };
    const lookup = lookupAt([server], { askSystem, otherSources: true });
    assert.deepEqual(await addressesOf(lookup, 'printer.local'), ['10.0.0.7']);
    assert.deepEqual(await addressesOf(lookup, 'found.local'), good);
    await assert.rejects(lookup('failing.local'), { code: 'EAI_AGAIN' });
    await assert.rejects(lookupAt([server], { askSystem })('printer.local'), { code: 'ENOTFOUND' });
    assert.deepEqual(asked, ['printer.local']);
  });
});

test('a webhook to a name whose server is dead has failed with that, before its time is over', async (t) => {
  await using server = await startNameServer(({ name }) => (isDead(name) ? 'silence' : ['127.0.0.1']));
  await using receiver = await startReceiver();
  const sender = openSender(t, { lookup: lookupAt([server]) });
  const [dead, other] = await Promise.all(
    ['dead.example', 'good.example'].map((host) => post(sender, `http://${host}:${receiver.port}`)),
  );
  assert.partialDeepStrictEqual(dead, { kind: 'retryable', reason: 'dns-failure' });
  assert.deepEqual(other, { kind: 'success', status: 200 });
});

describe('names whose servers never answer', () => {
  for (const count of [20, 200, 2_000]) {
    test(`do not keep others waiting, not even ${count} of them`, async () => {
      await using server = await startNameServer(({ name }) => (isDead(name) ? 'silence' : good));
      const lookup = lookupAt([server], { backOffMs: 0 });
      for (const name of namesOf('dead', count)) lookup(name).catch(() => undefined);
      const others = await Promise.all(namesOf('good', 50).map((name) => addressesAtLast(lookup, name)));
      assert.ok(others.every(([address]) => address === good[0]));
    });
  }

  test('do not keep those waiting that have resolved before, though there are too many to be asked for', async () => {
    await using server = await startNameServer(({ name }) => (isDead(name) ? 'silence' : good));
    const lookup = lookupAt([server], { freshMs: 0, backOffMs: 0 });
    const known = namesOf('good', 50);
    await Promise.all(known.map((name) => addressesAtLast(lookup, name)));
    for (const name of namesOf('dead', 4_100)) lookup(name).catch(() => undefined);
    const asked = server.questions.length;
    await Promise.all(known.map((name) => lookup(name)));
    const askedAgain = (): ReadonlySet<string> =>
      new Set(server.questions.slice(asked).flatMap(({ name }) => (isDead(name) ? [] : [name])));
    while (askedAgain().size < known.length) await new Promise(setImmediate);
  });
});
