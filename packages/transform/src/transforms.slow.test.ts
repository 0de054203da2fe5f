/** Transforms in their threads, of which a hostile set hurts no other. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { parseJson } from '@tailrace/events';
import { transformLimits, type TransformResult } from './run.ts';
import { Transforms } from './transforms.ts';

const timestamp = '2026-05-01T08:30:00.000Z';
const transforms = new Transforms({ threads: 1 });
after(() => transforms.close());

let owners = 0;

/** By an owner of its own. */
function run(code: string, event: string | object = {}, keepLogs = false): Promise<TransformResult> {
  const json = typeof event === 'string' ? event : JSON.stringify({ type: 'track', timestamp, ...event });
  return transforms.run({ owner: `owner-${(owners += 1)}`, code, event: json, keepLogs });
}

async function bodyOf(code: string, event: string | object = {}): Promise<unknown> {
  const result = await run(code, event);
  return result.outcome === 'body' ? JSON.parse(result.body) : assert.fail(JSON.stringify(result));
}

async function errorOf(code: string, event: string | object = {}): Promise<string> {
  const result = await run(code, event);
  if (result.outcome !== 'failed') assert.fail(JSON.stringify(result));
  const { message, line } = result.error;
  return line === undefined ? message : `${message} @${line}`;
}

describe('a transform', () => {
  test('is the last expression of its script, or what it declares as transform', async () => {
    const event = { userId: 'ada' };
    for (const code of [
      '(event) => ({ user: event.userId })',
      'const name = (event) => event.userId;\n(event) => ({ user: name(event) })',
      'function transform(event) { return { user: event.userId }; }',
      'const transform = (event) => ({ user: event.userId });',
    ]) {
      assert.deepEqual(await bodyOf(code, event), { user: 'ada' }, code);
    }
    assert.match(await errorOf('1 + 1'), /The script has no function/);
  });

  test('makes a body, with headers and the only URL where it says so, or filters the event', async () => {
    const parts = await run("() => ({ body: [1], headers: { 'X-A': 'b' }, url: 1 })");
    assert.deepEqual(
      { ...parts, cpuMs: 0 },
      {
        outcome: 'body',
        body: '[1]',
        headers: { 'X-A': 'b' },
        url: 1,
        cpuMs: 0,
        logs: [],
      },
    );
    assert.deepEqual(await bodyOf('() => ({ body: 1, more: 2 })'), { body: 1, more: 2 });
    assert.deepEqual(await bodyOf('() => ({ body: { body: 1 } })'), { body: 1 });
    for (const code of ['() => null', '() => ({ body: null })']) {
      assert.equal((await run(code)).outcome, 'filtered', code);
    }
  });

  test('sees the time of the event in UTC, and neither a network, timers nor chance', async () => {
    const code = `() => ({ now: Date.now(), date: new Date(), text: new Date(0).toString(), hours: new Date().getHours(),
      known: ['fetch', 'setTimeout', 'require', 'process', 'performance', 'std', 'os', 'scriptArgs', 'print'].filter((name) => name in globalThis) })`;
    assert.deepEqual(await bodyOf(code), {
      now: Date.parse(timestamp),
      date: timestamp,
      text: 'Thu Jan 01 1970 00:00:00 GMT+0000',
      hours: 8,
      known: [],
    });
    assert.match(await errorOf('() => Math.random()'), /Math\.random is not available/);
    assert.match(
      await errorOf('const started = Date.now(); () => started'),
      /no time before the function is called/,
    );
  });

  test('begins each run with the state after its script was loaded', async () => {
    const code =
      'let count = 0; const seen = []; () => { seen.push(count += 1); Array.prototype.push = 1; return { count, seen }; }';
    for (let nth = 0; nth < 3; nth += 1) assert.deepEqual(await bodyOf(code), { count: 1, seen: [1] });
  });

  test('sees nothing that it or another one has written into memory of its script', async () => {
    const code = `const kept = new Uint8Array(2 ** 19);
      () => { const found = kept.lastIndexOf(0); kept.fill(1); return found; }`;
    for (let nth = 0; nth < 2; nth += 1) assert.equal(await bodyOf(code), 2 ** 19 - 1);
    assert.equal(
      await bodyOf('() => Array.from({ length: 8 }, () => new Uint8Array(2 ** 20).fill(65)).length'),
      8,
    );
    assert.equal(await bodyOf(code), 2 ** 19 - 1);
    assert.equal(await bodyOf('() => new Uint8Array(2 ** 22).indexOf(65)'), -1);
    assert.match(
      await errorOf('const all = new Uint8Array(2 ** 21); () => 1'),
      /bytes of memory before the function/,
    );
  });

  test('keeps the digits of numbers that a double does not hold', async () => {
    const event = `{"timestamp":"${timestamp}","id":12345678901234567890,"total":25.5,"big":1e400}`;
    assert.equal(((await run('(event) => event', event)) as { body?: string }).body, event);
    const marks = `{ a: 1, 'exact:1': 'x"exact:2', b: ',"exact:3', c: 'exact:01' }`;
    assert.deepEqual(await bodyOf(`() => (${marks})`, event), {
      a: 1,
      'exact:1': 'x"exact:2',
      b: ',"exact:3',
      c: 'exact:01',
    });
    const code = '({ id, total }) => ({ text: `${id}`, number: Number(id), sum: total + 1, list: [id] })';
    assert.equal(
      ((await run(code, event)) as { body?: string }).body,
      '{"text":"12345678901234567890","number":12345678901234567000,"sum":26.5,"list":[12345678901234567890]}',
    );
  });

  test('keeps these digits in JSON that the function makes, in a text and in the log', async () => {
    const event = `{"timestamp":"${timestamp}","id":12345678901234567890,"list":[1e400]}`;
    const textOf = async (code: string) =>
      ((await bodyOf(`(event) => ({ text: ${code} })`, event)) as { text: string }).text;
    assert.equal(await textOf('JSON.stringify(event)'), event);
    assert.equal(await textOf('JSON.stringify(event, null, 2)'), JSON.stringify(parseJson(event), null, 2));
    assert.equal(
      await textOf('JSON.stringify({ json: JSON.stringify(event) })'),
      JSON.stringify({ json: event }),
    );
    assert.equal(await textOf('`id ${JSON.stringify(event.id)}`'), 'id 12345678901234567890');
    const headers = await run("({ id }) => ({ body: 1, headers: { 'X-Id': JSON.stringify(id) } })", event);
    assert.deepEqual(headers.outcome === 'body' && headers.headers, { 'X-Id': '12345678901234567890' });
    const slashes = await bodyOf("() => '\\\\'.repeat(30_000)", event);
    assert.equal(slashes, '\\'.repeat(30_000));
    const cloned = await run('(event) => JSON.parse(JSON.stringify(event))', event);
    assert.equal(cloned.outcome === 'body' && cloned.body, event);
    const { logs } = await run('(event) => (console.log(event, JSON.stringify(event.list)), 1)', event, true);
    assert.deepEqual(logs, [`${event} [1e400]`]);
  });

  test('that fails tells the message and the line', async () => {
    assert.equal(
      await errorOf('(event) => {\n  return event.user.name;\n}'),
      "TypeError: cannot read property 'name' of undefined @2",
    );
    assert.match(await errorOf('(event) => {\n  return 1 +;\n}'), /^SyntaxError: .* @2$/);
    assert.match(await errorOf('null.x;\n() => 1'), /^TypeError: .* @1$/);
    for (const [code, message] of [
      ['() => {}', /returned nothing/],
      ['async () => ({})', /returned a promise/],
      ['() => () => 1', /no value of JSON/],
      ['() => Symbol()', /no value of JSON/],
      ['() => 1n', /TypeError/],
      ["() => { throw 'text'; }", /thrown: text/],
      ['() => { throw { a: 1 }; }', /thrown: \{"a":1\}/],
      ['() => { throw null; }', /thrown: null/],
      ['() => { throw undefined; }', /thrown: undefined/],
      ['() => ({ body: 1, url: 5 })', /url is not a whole number from 0 to 4/],
      ['() => ({ body: 1, headers: { a: 1 } })', /values are texts/],
      ["() => 'x'.repeat(70_000)", /has 70002 bytes, and 65536 are allowed/],
      ["() => 'ü'.repeat(40_000)", /has 80002 bytes/],
      ["() => 'x'.repeat(300_000)", /the result has more than 262144 characters/],
    ] as const) {
      assert.match(await errorOf(code), message, code);
    }
  });

  test('writes to the console up to a limit, also where it fails', async () => {
    const result = await run(
      "(event) => { console.log('got', event.type, { a: 1 }, undefined); console.warn(new TypeError('no')); null.x; }",
      {},
      true,
    );
    assert.deepEqual(result.logs, ['got track {"a":1} undefined', 'TypeError: no']);
    const many = await run(
      '() => { for (let n = 0; n < 10_000; n += 1) console.log(n); return 1; }',
      {},
      true,
    );
    assert.equal(many.logs.length, transformLimits.logLines);
    const long = await run(
      "() => { for (let n = 0; n < 10; n += 1) console.log('x'.repeat(5_000)); return 1; }",
      {},
      true,
    );
    assert.ok(long.logs.join('').length <= transformLimits.logCharacters);
    assert.deepEqual((await run("() => { console.log('x'); return 1; }")).logs, []);
  });
});

/** What each must end with. */
const hostile: Readonly<Record<string, readonly [code: string, message: RegExp]>> = {
  'an endless loop': ['() => { for (;;); }', /used more than 10 ms/],
  'an endless loop while it is loaded': ['for (;;);', /Loading the script used more than/],
  'a loop that catches everything': ['() => { for (;;) try { for (;;); } catch {} }', /used more than 10 ms/],
  'endless recursion': ['() => { const f = () => f() + 1; return f(); }', /stack overflow|used more than/],
  'recursion that catches everything': [
    '() => { const f = () => { try { f(); } finally { f(); } }; f(); }',
    /stack overflow|used more than|did not end/,
  ],
  'a regular expression that backtracks': [
    "() => /^(a+)+$/.test('a'.repeat(40) + 'b')",
    /used more than 10 ms|did not end/,
  ],
  'a huge text': ["() => 'x'.repeat(2 ** 28)", /out of memory|invalid string length/],
  'a huge array': ['() => new Uint8Array(2 ** 30).length', /out of memory|invalid array/],
  'ever more memory': [
    '() => { const all = []; for (;;) all.push(new Array(1000).fill(1)); }',
    /out of memory|used more than/,
  ],
  'ever more memory that it hides': [
    '() => { const all = []; for (;;) try { all.push(new Array(1000).fill({})); } catch {} }',
    /out of memory|used more than/,
  ],
  'a getter that loops': ['() => ({ get a() { for (;;); } })', /used more than 10 ms/],
  'a toJSON that loops': ['() => ({ toJSON() { for (;;); } })', /used more than 10 ms/],
  'a proxy': ['() => new Proxy({}, { ownKeys() { for (;;); } })', /used more than 10 ms/],
  'a proxy of no keys': ["() => new Proxy({}, { ownKeys() { throw 'no'; } })", /thrown: no/],
  'an error with a getter that loops': [
    "() => { const e = new Error(); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e; }",
    /used more than 10 ms/,
  ],
  'an error whose text is an error': [
    '() => { throw { toJSON() { throw 1; } }; }',
    /thrown: a value that has no text/,
  ],
  'a body in a cycle': ['() => { const a = {}; a.a = a; return a; }', /circular|cycle/],
  'deep nesting': [
    '() => { let a = []; for (let n = 0; n < 1e5; n += 1) a = [a]; return a; }',
    /stack overflow|used more than/,
  ],
  'a thenable': ['() => Promise.resolve({})', /returned a promise/],
  'a JSON of its own': [
    "JSON.stringify = () => 'x'; Object.prototype.toJSON = () => undefined; () => ({})",
    /no value of JSON/,
  ],
  'a prototype with parts': [
    "Object.prototype.toJSON = function () { return 'B{}'; }; () => { null.x; }",
    /cannot read property/,
  ],
  'deep source': [`${'('.repeat(16_000)}1${')'.repeat(16_000)}`, /stack overflow|no function|used more than/],
};

describe('runs of a source', () => {
  const event = JSON.stringify({ timestamp });
  const fast = '(event) => event.timestamp';

  /** How many runs of a flood have ended before the last of 20 fast ones of another source, which came later. */
  async function endedBefore(owners: number, runsOfOwner: number, code: string): Promise<number> {
    // Every script has been loaded, and what a run takes is known.
    const floodOf = (runs: number): Promise<TransformResult>[] =>
      Array.from({ length: runs }, (_, nth) =>
        transforms.run({ owner: `flooded-${nth % owners}`, source: 'flood', code, event }),
      );
    await Promise.all(floodOf(owners));
    await transforms.run({ owner: 'quiet', source: 'quiet', code: fast, event });
    let ended = 0;
    const flood = floodOf(owners * runsOfOwner).map((run) => run.then(() => (ended += 1)));
    const quiet = Array.from({ length: 20 }, () =>
      transforms.run({ owner: 'quiet', source: 'quiet', code: fast, event }),
    );
    await Promise.all(quiet);
    const endedFirst = ended;
    await Promise.all(flood);
    return endedFirst;
  }

  test('17.7 do not wait for those of another source, to however many destinations it sends', async () => {
    const ended = await endedBefore(50, 10, fast);
    assert.ok(ended <= 60, `${ended} of 500 runs have ended before`);
  });

  test('17.7 do not wait for the slow ones of another source, which have turns by their CPU time', async () => {
    const loop = (times: number): string =>
      `() => { let sum = 0; for (let n = 0; n < ${times}; n += 1) sum += n; return sum; }`;
    // Three to six turns long on any machine, and shorter than the limit.
    let times = 1_000;
    const cpuMsOf = async (code: string): Promise<number> => {
      const runs = [1, 2, 3].map(() => transforms.run({ owner: 'tried', code, event }));
      return Math.min(...(await Promise.all(runs)).map(({ cpuMs }) => cpuMs));
    };
    while ((await cpuMsOf(loop(times))) < 3) times *= 2;
    const ended = await endedBefore(1, 40, loop(times));
    assert.ok(ended <= 12, `${ended} of 40 runs have ended before`);
  });
});

describe('a hostile transform', () => {
  for (const [name, [code, message]] of Object.entries(hostile)) {
    test(`with ${name} fails, and others run`, async () => {
      assert.match(await errorOf(code), message);
      assert.deepEqual(await bodyOf('(event) => ({ type: event.type })'), { type: 'track' });
    });
  }

  test('changes no other, whatever it does to its globals', async () => {
    await run(`for (const name of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[name]; } catch {}
      Object.setPrototypeOf(Array.prototype, null); () => 1`);
    assert.deepEqual(await bodyOf('(event) => [1, 2].map((n) => n + event.type.length)'), [6, 7]);
    assert.deepEqual(await bodyOf('() => ({ 2: 1, 1: 2, __proto__: 3 })'), { 1: 2, 2: 1 });
  });

  test('that cannot be interrupted ends with its thread, and is not run for a while', async () => {
    let ended = 0;
    await using own = new Transforms({
      threads: 1,
      stuckAfterMs: 200,
      onThreadEnded: () => (ended += 1),
    });
    const event = JSON.stringify({ timestamp });
    // A search of quadratic time, inside one function of QuickJS.
    const code = "() => 'a'.repeat(4e6).indexOf('a'.repeat(2e6) + 'b')";
    const stuck = own.run({ owner: 'stuck', code, event });
    const behind = Array.from({ length: 30 }, () => own.run({ owner: 'stuck', code, event }));
    const others = Array.from({ length: 20 }, (_, nth) =>
      own.run({ owner: `other-${nth}`, code: `() => ${nth}`, event }),
    );
    const found = await Promise.all(others);
    assert.deepEqual(
      found.map((result) => (result.outcome === 'body' ? result.body : result)),
      Array.from({ length: 20 }, (_, nth) => String(nth)),
    );
    const result = await stuck;
    assert.match(result.outcome === 'failed' ? result.error.message : '', /did not end/);
    assert.ok(own.isSuspect('stuck'));
    assert.ok(!own.isSuspect('other-1'));
    assert.equal(ended, 1);

    for (const rest of [...(await Promise.all(behind)), await own.run({ owner: 'stuck', code, event })]) {
      assert.match(rest.outcome === 'failed' ? rest.error.message : '', /was not run/);
    }
    // Another script of it may earn trust.
    for (let nth = 0; nth < 20; nth += 1) await own.run({ owner: 'stuck', code: '() => 1', event });
    assert.ok(!own.isSuspect('stuck'));
    assert.equal(ended, 1);
  });

  test('that is too long many times in a row is then not run for a while, and what waits of it fails', async () => {
    const event = JSON.stringify({ timestamp });
    for (const code of ['() => { for (;;); }', 'for (;;);']) {
      const all = Array.from({ length: 40 }, () => transforms.run({ owner: code, code, event }));
      const messages = (await Promise.all(all)).map((result) =>
        result.outcome === 'failed' ? result.error.message : '',
      );
      assert.ok(messages.filter((message) => message.includes('used more than')).length < 20, code);
      assert.match(messages.at(-1) ?? '', /was not run/);
      assert.equal((await transforms.run({ owner: code, code: '() => 1', event })).outcome, 'body');
    }
  });

  test('runs in order, and is trusted again after a number of runs in time', async () => {
    const code = '(event) => { while (event.loop); return event.nth; }';
    const runs = Array.from({ length: 40 }, (_, nth) =>
      transforms.run({ owner: 'ordered', code, event: JSON.stringify({ timestamp, nth, loop: nth === 5 }) }),
    );
    const ended: number[] = [];
    runs.forEach((run, nth) => void run.then(() => ended.push(nth)));
    const outcomes = (await Promise.all(runs)).map(({ outcome }) => outcome);
    assert.deepEqual(
      ended,
      runs.map((_, nth) => nth),
    );
    assert.deepEqual(
      outcomes.flatMap((outcome, nth) => (outcome === 'body' ? [] : [nth])),
      [5],
    );
    assert.ok(!transforms.isSuspect('ordered'));
  });
});
