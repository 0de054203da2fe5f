import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import type { Call } from '../core/encode.ts';
import type { AnalyticsError } from '../core/errors.ts';
import { fileQueue } from './file-queue.ts';

function folder(t: TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'tailrace-file-queue-'));
  t.after(() => {
    rmSync(directory, { recursive: true });
  });
  return directory;
}

const json = (n: number, text = ''): string =>
  JSON.stringify({ type: 'track', messageId: `m-${n}`, userId: 'ada', event: 'E', text });
const line = (n: number, queuedAt = Date.now()): string => `${json(n)} ${queuedAt}`;
const jsons = (count: number, from = 0): string[] => Array.from({ length: count }, (_, n) => json(n + from));
const callOf = (text: string): Call => ({
  json: text,
  bytes: Buffer.byteLength(text),
  userKey: 'ada',
  queuedAt: 0,
  attempts: 0,
  number: 0,
  stored: 0,
});

/** Opens a store that is closed at the end of the test. */
function open(t: TestContext, directory: string, options: { maxBytes?: number; syncAfterMs?: number } = {}) {
  const reports: AnalyticsError[] = [];
  const files = fileQueue({ directory, ...options }).open((error) => reports.push(error));
  t.after(() => {
    files.close();
  });
  const loaded = [...files.load()];
  const calls = [...loaded];
  /** The files, by the texts of calls. */
  const store = {
    loaded,
    texts: loaded.map(({ json }) => json),
    get freeBytes() {
      return files.freeBytes;
    },
    add(text: string): boolean {
      const call = callOf(text);
      calls.push(call);
      return files.add(call);
    },
    /** Settles the oldest calls, behind `held` of them that are aside. */
    settle(count: number, held = 0): void {
      files.settle(calls.splice(held, count));
      files.compact(calls.slice(0, held), false);
    },
    /** Closes with so many of the oldest calls aside. Returns which of the calls are kept. */
    close(held = 0): boolean[] {
      files.compact(calls.slice(0, held), true);
      return calls.map(files.close());
    },
  };
  return { store, reports };
}

const callFiles = (directory: string): string[] =>
  readdirSync(directory).filter((name) => name.endsWith('.calls'));

test('calls that are not settled are there after a restart, in order, and settled ones are not', (t) => {
  const directory = folder(t);
  const first = open(t, directory).store;
  for (const text of jsons(10)) first.add(text);
  first.settle(4);
  first.close();
  const second = open(t, directory).store;
  assert.deepEqual(second.texts, jsons(6, 4));
  second.add(json(10));
  second.settle(6);
  second.close();
  const third = open(t, directory).store;
  assert.deepEqual(third.texts, [json(10)]);
  third.settle(1);
  third.close();
  assert.deepEqual(readdirSync(directory), [], 'nothing is left when all is settled');
});

test('a crash at any byte loses at most the record that it cut off, and reports it', (t) => {
  const directory = folder(t);
  const { store } = open(t, directory);
  for (const text of jsons(3)) store.add(text);
  store.close();
  const [file = ''] = callFiles(directory);
  appendFileSync(path.join(directory, file), line(3).slice(0, 30));
  const second = open(t, directory);
  assert.deepEqual(second.store.texts, jsons(3));
  assert.deepEqual(
    second.reports.map(({ code }) => code),
    ['queue-damaged'],
  );
  assert.match(second.reports[0]?.message ?? '', /cut it off/);
});

test('damaged records are skipped and reported, and the others are settled with the right numbers', (t) => {
  const directory = folder(t);
  const lines = [line(0), '\0\0\0', line(1), '{"type":7} 1700000000000', line(2), ''];
  writeFileSync(path.join(directory, '0000000000000000.calls'), lines.join('\n'));
  const { store, reports } = open(t, directory);
  assert.deepEqual(store.texts, jsons(3));
  assert.equal(reports.length, 2);
  store.settle(2);
  store.close();
  const second = open(t, directory);
  assert.deepEqual(second.store.texts, [json(2)]);
  second.store.settle(1);
  second.store.close();
  assert.deepEqual(readdirSync(directory), []);
});

test('the files stay within maxBytes, and are removed as their calls are settled', (t) => {
  const directory = folder(t);
  const maxBytes = 1024 * 1024;
  const { store } = open(t, directory, { maxBytes });
  const call = json(0, 'x'.repeat(10_000));
  let held = 0;
  const fill = (): void => {
    while (store.freeBytes > call.length) {
      store.add(call);
      held++;
    }
  };
  const diskBytes = (): number =>
    callFiles(directory).reduce((bytes, name) => bytes + statSync(path.join(directory, name)).size, 0);
  for (let turn = 0; turn < 20; turn++) {
    fill();
    assert.ok(diskBytes() <= maxBytes, `${diskBytes()} bytes`);
    const settled = turn % 2 === 0 ? held : Math.ceil(held / 2);
    store.settle(settled);
    held -= settled;
    assert.ok(store.freeBytes > maxBytes / 5, `${store.freeBytes} bytes are free`);
  }
});

test('a call that is aside keeps neither files nor sent calls, and is written again behind the others', (t) => {
  const directory = folder(t);
  const { store } = open(t, directory);
  store.add(json(0));
  const text = json(1, 'x'.repeat(10_000));
  for (let n = 0; n < 2_000; n++) {
    store.add(text);
    store.settle(1, 1);
    // Of one megabyte each.
    assert.ok(callFiles(directory).length <= 4, `${callFiles(directory).length} files`);
  }
  store.add(json(2));
  store.close(1);
  assert.deepEqual(open(t, directory).store.texts, [json(2), json(0)]);
});

test('a second client on the directory is refused, and one after close is not', (t) => {
  const directory = folder(t);
  const { store } = open(t, directory);
  const expected = { code: 'invalid-options', field: 'queue', message: /process \d+ on .* uses it/ };
  assert.throws(() => open(t, directory), expected);
  store.close();
  open(t, directory);
});

test('a lock of a process that has ended is taken over, and one of a living process is not', (t) => {
  const directory = folder(t);
  const lock = path.join(directory, 'lock');
  const ended = spawnSync(process.execPath, ['-e', '']).pid;
  const refused = { code: 'invalid-options', field: 'queue' };
  const write = (owner: object): void => {
    writeFileSync(lock, JSON.stringify({ pid: process.ppid, host: hostname(), ...owner }));
  };
  write({});
  assert.throws(() => open(t, directory), refused);
  // Another process has the id of one that has ended, as in each start of a container.
  write({ started: 'earlier' });
  open(t, directory).store.close();
  write({ host: 'another-host' });
  assert.throws(() => open(t, directory), refused);
  utimesSync(lock, 0, 0);
  open(t, directory).store.close();
  write({ pid: ended });
  open(t, directory).store.close();
  write({ pid: process.pid, started: 'earlier' });
  open(t, directory).store.close();
  writeFileSync(lock, '{"pid":');
  assert.throws(() => open(t, directory), refused, 'it is being written');
  utimesSync(lock, 0, 0);
  open(t, directory).store.close();
});

test('a directory that cannot be used is an error of the option', (t) => {
  const file = path.join(folder(t), 'file');
  writeFileSync(file, '');
  assert.throws(() => open(t, file), { code: 'invalid-options', field: 'queue' });
  assert.throws(() => fileQueue({ directory: '' }), { code: 'invalid-options', field: 'directory' });
  assert.throws(() => fileQueue({ directory: file, maxBytes: 7 }), { field: 'maxBytes' });
});

test('with syncAfterMs 0 a call is in the file when add returns', (t) => {
  const directory = folder(t);
  const { store } = open(t, directory, { syncAfterMs: 0 });
  store.add(json(0));
  const [file = ''] = callFiles(directory);
  assert.equal(statSync(path.join(directory, file)).size, line(0).length + 1);
});

test('the age of a call counts from when it was queued, also after a restart', (t) => {
  using _time = simulateTime({ monotonicMs: 0 });
  const directory = folder(t);
  const hourMs = 3_600_000;
  const lines = [line(0, Date.now() - hourMs), line(1), line(2, Date.now() + hourMs), ''];
  writeFileSync(path.join(directory, '0000000000000000.calls'), lines.join('\n'));
  const queuedAt = open(t, directory).store.loaded.map((call) => call.queuedAt);
  // Before the last one, the clock was set back.
  assert.deepEqual(queuedAt, [-hourMs, 0, 0]);
});

test('a call that could not be written does not count as one of those that were', (t) => {
  const directory = folder(t);
  const { store, reports } = open(t, directory);
  const hidden = `${directory}-hidden`;
  renameSync(directory, hidden);
  assert.equal(store.add(json(0)), false);
  assert.equal(reports[0]?.code, 'queue-damaged');
  renameSync(hidden, directory);
  assert.equal(store.add(json(1)), true);
  store.settle(1);
  store.close();
  assert.deepEqual(open(t, directory).store.texts, [json(1)]);
});

test('any text and any clock are there after a restart', (t) => {
  const directory = folder(t);
  // These two end lines in JavaScript, and JSON does not escape them.
  const texts = [json(0, 'a\u2028b\u2029 '), json(1)];
  const first = open(t, directory).store;
  first.add(texts[0] ?? '');
  // A clock that was never set.
  t.mock.timers.enable({ apis: ['Date'], now: 5_000 });
  first.add(texts[1] ?? '');
  t.mock.timers.reset();
  first.close();
  const { store, reports } = open(t, directory);
  assert.deepEqual(store.texts, texts);
  assert.deepEqual(reports, []);
});

test('close keeps the calls that were written, and not those for which the disk was full', async (t) => {
  const directory = folder(t);
  const { store, reports } = open(t, directory);
  symlinkSync('/dev/full', path.join(directory, '0000000000000000.calls'));
  for (const text of jsons(2)) store.add(text);
  await nextTurn();
  store.add(json(2));
  await nextTurn();
  assert.deepEqual(store.close(), [false, false, true]);
  assert.deepEqual(
    reports.map(({ message }) => message),
    ['The file queue cannot be written: ENOSPC: no space left on device, write'],
  );
  assert.deepEqual(open(t, directory).store.texts, [json(2)]);
});

test('close keeps nothing in a directory that was removed, and leaves the lock of a new one', (t) => {
  const directory = folder(t);
  const { store } = open(t, directory, { syncAfterMs: 0 });
  store.add(json(0));
  rmSync(directory, { recursive: true });
  const second = open(t, directory).store;
  assert.equal(store.close()[0], false);
  assert.ok(existsSync(path.join(directory, 'lock')));
  second.close();
});

test('a file that cannot be read is an error of the option, and one that cannot be removed is reported', (t) => {
  const directory = folder(t);
  const file = path.join(directory, '0000000000000000.calls');
  mkdirSync(file);
  for (let n = 0; n < 2; n++) {
    assert.throws(() => open(t, directory), { code: 'invalid-options', message: /cannot read .*EISDIR/ });
  }
  rmSync(file, { recursive: true });
  writeFileSync(file, `${line(0)}\n`);
  const { store, reports } = open(t, directory);
  rmSync(file);
  mkdirSync(file);
  store.settle(1);
  assert.deepEqual(
    reports.map(({ code }) => code),
    ['queue-damaged'],
  );
});
