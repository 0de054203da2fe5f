import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TailraceError } from '@tailrace/errors';
import { createLogTo, type Log } from './log.ts';
import type { LogLevel } from './settings/shared.ts';

function collect(level: LogLevel = 'info'): { log: Log; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const destination = {
    write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  };
  return { log: createLogTo(destination, 'test', level), lines };
}

test('a line contains time, level, service and message', () => {
  const { log, lines } = collect();
  log.warn({ destinationId: 'crm' }, 'slow');
  const { time, ...rest } = lines[0] ?? {};
  assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(rest, { level: 'warn', service: 'test', destinationId: 'crm', msg: 'slow' });
});

test('secrets and write keys are redacted at any depth of a line', () => {
  const { log, lines } = collect();
  const destination = {
    id: 'crm',
    settings: {
      sharedSecret: 's3cret',
      previousSharedSecret: 's3cret',
      tls: { clientKey: 's3cret' },
      webhooks: [{ headers: { 'X-Team-Key': 's3cret' } }],
    },
  };
  const source = { writeKeys: ['s3cret'], writeKey: 's3cret', 'api-token': 's3cret' };
  log.info({ destination, source, secret_key: 's3cret', password: 's3cret' }, 'loaded');
  assert.doesNotMatch(JSON.stringify(lines), /s3cret/);
  assert.match(JSON.stringify(lines), /"id":"crm"/);
  assert.equal(destination.settings.sharedSecret, 's3cret', 'what was logged is itself unchanged');
});

test('an error is logged with its code and its cause', () => {
  const { log, lines } = collect();
  const cause = new Error('connect ECONNREFUSED');
  log.error({ err: new TailraceError('kafka-unavailable', undefined, { cause }) }, 'publish');
  const { code, stack } = lines[0]?.['err'] as { code: string; stack: string };
  assert.equal(code, 'kafka-unavailable');
  assert.match(stack, /caused by: Error: connect ECONNREFUSED/);
});

test('lines below the level are left out', () => {
  const { log, lines } = collect('error');
  log.warn('quiet');
  assert.deepEqual(lines, []);
});
