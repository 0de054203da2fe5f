/** Name resolution, with local name servers that answer, respond slowly, drop queries and refuse them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createNameLookup,
  type NameLookup,
  type NameLookupOptions,
  type NameSettings,
} from '@tailrace/webhook';
import { eventually } from '@tailrace/testing';
import { startNameServer, type NameAnswer, type NameServer } from '../support/receivers/name-server.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { openSender, post } from '../support/receivers/sender.ts';

type Options = Omit<NameLookupOptions, 'settings'> & Partial<NameSettings>;

/** A look-up that uses only these name servers. */
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

/** Retries on EAI_AGAIN, because a busy machine may read the answers too late. */
async function addressesWithRetry(lookup: NameLookup, hostname: string): Promise<readonly string[]> {
  for (;;) {
    try {
      return await addressesOf(lookup, hostname);
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'EAI_AGAIN');
    }
  }
}

const good = ['192.0.2.1'];
/** The names that it was asked for, in order, each once: c-ares asks again where a busy machine answers after 250 ms. */
const askedOf = ({ questions }: NameServer): string[] => [...new Set(questions.map(({ name }) => name))];
const isDead = (name: string): boolean => name.startsWith('dead');
const namesOf = (what: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${what}-${index}.example`);

test('two thousand new names resolve', async () => {
  await using server = await startNameServer(() => good);
  const lookup = lookupAt([server], { backOffMs: 0 });
  const all = await Promise.all(namesOf('new', 2_000).map((name) => addressesWithRetry(lookup, name)));
  assert.ok(all.every(([address]) => address === good[0]));
});

describe('a name that fails', () => {
  for (const [how, code] of [
    ['silence', 'EAI_AGAIN'],
    ['server-failure', 'EAI_AGAIN'],
    ['refused', 'EAI_AGAIN'],
    ['no-such-name', 'ENOTFOUND'],
  ] as const) {
    test(`with ${how} fails with ${code}, and is not looked up during the back-off`, async () => {
      await using server = await startNameServer(() => how);
      const lookup = lookupAt([server], { giveUpMs: 500, backOffMs: 60_000 });
      await assert.rejects(lookup('a.example'), { code });
      const asked = server.asked('a.example');
      for (let count = 0; count < 100; count += 1) await assert.rejects(lookup('a.example'), { code });
      // c-ares continues its own retries.
      if (how !== 'silence') assert.equal(server.asked('a.example'), asked);
    });
  }

  test('is looked up again after the back-off', async () => {
    let answer: NameAnswer = 'server-failure';
    await using server = await startNameServer(() => answer);
    const lookup = lookupAt([server], { backOffMs: 0 });
    await assert.rejects(lookup('a.example'), { code: 'EAI_AGAIN' });
    answer = good;
    assert.deepEqual(await addressesOf(lookup, 'a.example'), good);
  });

  test('keeps its previous addresses', async () => {
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
  test('a dead one is skipped', async () => {
    await using dead = await startNameServer(() => 'silence');
    await using server = await startNameServer(() => good);
    const lookup = lookupAt([dead, server], { backOffMs: 0 });
    const names = namesOf('new', 200);
    const all = await Promise.all(names.map((name) => addressesWithRetry(lookup, name)));
    assert.ok(all.every(([address]) => address === good[0]));
    assert.ok(dead.questions.length > 0);
    // The dead server is known now. On a busy machine the other may be late once more.
    let round = 0;
    const askedAgain = async (): Promise<number> => {
      const before = dead.questions.length;
      const later = namesOf(`later-${round++}`, 200);
      await Promise.all(later.map((name) => addressesWithRetry(lookup, name)));
      return dead.questions.length - before;
    };
    await eventually(askedAgain, (more) => more < 100);
  });

  for (const how of ['server-failure', 'refused'] as const) {
    test(`the next one is queried where the first answers ${how}`, async () => {
      await using broken = await startNameServer(() => how);
      await using server = await startNameServer(({ name }) => (isDead(name) ? 'no-such-name' : good));
      const lookup = lookupAt([broken, server]);
      assert.deepEqual(await addressesOf(lookup, 'a.example'), good);
      await assert.rejects(lookup('dead.example'), { code: 'ENOTFOUND' });
    });
  }
});

describe('an answer', () => {
  test('that is too long for UDP is read over TCP', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `192.0.2.${index}`);
    await using server = await startNameServer(({ over }) => (over === 'udp' ? 'too-long' : many));
    assert.deepEqual(await addressesOf(lookupAt([server]), 'a.example'), many);
  });

  test('has the addresses of both families, the preferred family first', async () => {
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

  test('without an address means that the name does not exist', async () => {
    await using server = await startNameServer(() => []);
    await assert.rejects(lookupAt([server], { families: [4, 6] })('a.example'), { code: 'ENOTFOUND' });
  });
});

describe('a name is resolved as in the C library', () => {
  const kubernetes = { search: ['ns.svc.cluster.local', 'svc.cluster.local'], ndots: 5 };
  const cases: readonly [what: string, hostname: string, options: Options, asked: readonly string[]][] = [
    [
      'with few dots: search domains first',
      'hooks.example',
      kubernetes,
      ['hooks.example.ns.svc.cluster.local', 'hooks.example.svc.cluster.local', 'hooks.example'],
    ],
    [
      'with enough dots: the name as written first',
      'a.b.c.d.e.f',
      kubernetes,
      ['a.b.c.d.e.f', 'a.b.c.d.e.f.ns.svc.cluster.local', 'a.b.c.d.e.f.svc.cluster.local'],
    ],
    ['with a final dot: the name as written only', 'hooks.example.', kubernetes, ['hooks.example']],
    ['without a search list: the name as written only', 'hooks', {}, ['hooks']],
  ];
  for (const [what, hostname, options, asked] of cases) {
    test(what, async () => {
      await using server = await startNameServer(() => 'no-such-name');
      await assert.rejects(lookupAt([server], options)(hostname), { code: 'ENOTFOUND' });
      assert.deepEqual(askedOf(server), asked);
    });
  }

  test('until the first candidate that has an address', async () => {
    await using server = await startNameServer(({ name }) =>
      name === 'receiver.ns.svc.cluster.local' ? good : 'no-such-name',
    );
    assert.deepEqual(await addressesOf(lookupAt([server], kubernetes), 'receiver'), good);
    assert.deepEqual(askedOf(server), ['receiver.ns.svc.cluster.local']);
  });

  test('where a search domain fails: the name as written is still found', async () => {
    await using server = await startNameServer(({ name }) =>
      name === 'hooks.example' ? good : name.includes('.ns.') ? 'silence' : 'server-failure',
    );
    const lookup = lookupAt([server], { ...kubernetes, giveUpMs: 30_000 });
    assert.deepEqual(await addressesOf(lookup, 'hooks.example'), good);
    assert.equal(server.asked('hooks.example.svc.cluster.local'), 0);
  });

  test('from the hosts file, or as this machine, without a query', async () => {
    await using server = await startNameServer(() => 'no-such-name');
    const hosts = new Map([['receiver.example', [{ address: '10.0.0.7', family: 4 }]]]);
    const lookup = lookupAt([server], { hosts });
    assert.deepEqual(await addressesOf(lookup, 'receiver.example'), ['10.0.0.7']);
    assert.deepEqual(await addressesOf(lookup, 'receiver.example.'), ['10.0.0.7']);
    assert.deepEqual(await addressesOf(lookup, 'localhost'), ['127.0.0.1', '::1']);
    assert.deepEqual(await addressesOf(lookup, 'app.localhost'), ['127.0.0.1', '::1']);
    assert.equal(server.questions.length, 0);
  });

  test('by the system only where it has other sources and the name was not found otherwise', async () => {
    await using server = await startNameServer(({ name }) =>
      name === 'failing.local' ? 'server-failure' : name === 'found.local' ? good : 'no-such-name',
    );
    const asked: string[] = [];
    const lookupBySystem: NameLookup = (hostname) => {
      asked.push(hostname);
      return Promise.resolve([{ address: '10.0.0.7', family: 4 }]);
    };
    const lookup = lookupAt([server], { lookupBySystem, otherSources: true });
    assert.deepEqual(await addressesOf(lookup, 'printer.local'), ['10.0.0.7']);
    assert.deepEqual(await addressesOf(lookup, 'found.local'), good);
    await assert.rejects(lookup('failing.local'), { code: 'EAI_AGAIN' });
    await assert.rejects(lookupAt([server], { lookupBySystem })('printer.local'), { code: 'ENOTFOUND' });
    assert.deepEqual(asked, ['printer.local']);
  });
});

test('a webhook to a name with a dead name server fails with dns-failure before the timeout', async (t) => {
  await using server = await startNameServer(({ name }) => (isDead(name) ? 'silence' : ['127.0.0.1']));
  await using receiver = await startReceiver();
  const sender = openSender(t, { lookup: lookupAt([server], { giveUpMs: 500 }) });
  const [dead, other] = await Promise.all(
    ['dead.example', 'good.example'].map((host) => post(sender, `http://${host}:${receiver.port}`)),
  );
  assert.partialDeepStrictEqual(dead, { kind: 'retryable', reason: 'dns-failure' });
  assert.deepEqual(other, { kind: 'success', status: 200 });
});

describe('names whose name servers never answer', () => {
  for (const count of [20, 200, 2_000]) {
    test(`do not delay others, even where there are ${count} of them`, async () => {
      await using server = await startNameServer(({ name }) => (isDead(name) ? 'silence' : good));
      const lookup = lookupAt([server], { backOffMs: 0 });
      for (const name of namesOf('dead', count)) lookup(name).catch(() => undefined);
      const others = await Promise.all(namesOf('good', 50).map((name) => addressesWithRetry(lookup, name)));
      assert.ok(others.every(([address]) => address === good[0]));
    });
  }

  test('do not delay names that resolved before, even where there are too many to look up', async () => {
    await using server = await startNameServer(({ name }) => (isDead(name) ? 'silence' : good));
    const lookup = lookupAt([server], { freshMs: 0, backOffMs: 0 });
    const known = namesOf('good', 50);
    await Promise.all(known.map((name) => addressesWithRetry(lookup, name)));
    for (const name of namesOf('dead', 4_100)) lookup(name).catch(() => undefined);
    const asked = server.questions.length;
    await Promise.all(known.map((name) => lookup(name)));
    const askedAgain = (): ReadonlySet<string> =>
      new Set(server.questions.slice(asked).flatMap(({ name }) => (isDead(name) ? [] : [name])));
    while (askedAgain().size < known.length) await new Promise(setImmediate);
  });
});
