import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { createTerminal, isWorthShowing, parseLogLine, shortForm, type Terminal } from './terminal.ts';

function record(isTTY: boolean): { terminal: Terminal; text: () => string } {
  const stream = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream & PassThrough;
  return {
    terminal: createTerminal(stream),
    text: () => (stream.read() as Buffer | null)?.toString() ?? '',
  };
}

test('a pipe gets plain lines, and only the milestones of the progress', () => {
  const { terminal, text } = record(false);
  terminal.progress('kafka', 'downloading 1 of 46', { milestone: false });
  terminal.progress('kafka', 'downloading 10 of 46', { milestone: true });
  terminal.say('kafka', 'ready', 'good');
  assert.equal(text(), 'kafka     downloading 10 of 46\nkafka     ready\n');
});

test('on a terminal, progress is overwritten by the next line', () => {
  const { terminal, text } = record(true);
  terminal.progress('kafka', 'one');
  terminal.progress('kafka', 'two');
  terminal.print('done');
  const [one = '', two = '', done = ''] = text().split('\r\u001b[K');
  assert.ok(one.endsWith('one'));
  assert.ok(two.endsWith('two'));
  assert.equal(done, 'done\n');
});

test('further lines are indented', () => {
  const { terminal, text } = record(false);
  terminal.say('demo', 'track\n{}');
  assert.equal(text(), 'demo      track\n          {}\n');
});

test('a log line is distinguished from other output, such as a webhook body', () => {
  assert.equal(parseLogLine('{"version":1,"type":"track"}'), undefined);
  assert.equal(parseLogLine('{"level":"info", broken'), undefined);
  assert.equal(parseLogLine('Error: out of memory'), undefined);
  assert.equal(
    parseLogLine('{"level":"info","time":"2026-01-01T00:00:00.000Z","msg":"ready"}')?.msg,
    'ready',
  );
});

test('a warning is shown on one line with its cause and its plain fields', () => {
  const line = parseLogLine(
    '{"level":"warn","time":"2026-01-01T00:00:00.000Z","service":"router","code":"topic-missing",' +
      '"err":{"message":"no such topic","stack":"at ..."},"msg":"waiting"}',
  );
  assert.ok(line);
  assert.equal(isWorthShowing(line), true);
  assert.equal(shortForm(line), 'warn: waiting: no such topic (code=topic-missing)');
});

test('an info line is not shown', () => {
  const line = parseLogLine('{"level":"info","time":"2026-01-01T00:00:00.000Z","msg":"attempt"}');
  assert.ok(line);
  assert.equal(isWorthShowing(line), false);
});
