import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { readSettings } from './read.ts';
import { receiverSettings, secretKeys, serviceSettings, topicSettings } from './shared.ts';

test('topics have the documented defaults', () => {
  const { topics } = readSettings({}, Type.Object({ topics: topicSettings() }));
  assert.equal(topics.prefix, 'tailrace.');
  assert.equal(topics.partitions, 6);
  assert.equal(topics.replication, undefined);
  const minutes = topics.retryScheduleMs.map((delayMs) => delayMs / 60_000);
  assert.deepEqual(minutes, [1 / 6, 1, 5, 20, 60, 60, 60, 20]);
});

test('a topic prefix that Kafka does not allow is invalid', () => {
  assert.throws(
    () => readSettings({ TAILRACE_TOPIC_PREFIX: 'a/b' }, Type.Object({ topics: topicSettings() })),
    /TAILRACE_TOPIC_PREFIX/,
  );
});

test('every service has a log level, a port for its metrics and a grace period', () => {
  assert.deepEqual(
    { ...readSettings({ LOG_LEVEL: 'debug' }, Type.Object(serviceSettings({ metricsPort: 9464 }))) },
    { logLevel: 'debug', metricsPort: 9464, shutdownDelayMs: 0, shutdownGraceMs: 25_000 },
  );
  assert.throws(
    () => readSettings({ LOG_LEVEL: 'loud' }, Type.Object(serviceSettings({ metricsPort: 9464 }))),
    /LOG_LEVEL: invalid value "loud"; must be one of trace, debug, info, warn, error, fatal, silent/,
  );
});

test('the previous secret key requires the current one', () => {
  const settings = Type.Object({ keys: secretKeys() });
  const [current, previous] = ['a', 'b'].map((digit) => digit.repeat(64)) as [string, string];
  const env = { TAILRACE_SECRET_KEY: current, TAILRACE_SECRET_KEY_PREVIOUS: previous };
  assert.deepEqual(
    { ...readSettings(env, settings).keys },
    { current: Buffer.from(current, 'hex'), previous: Buffer.from(previous, 'hex') },
  );
  assert.throws(
    () => readSettings({ ...env, TAILRACE_SECRET_KEY: '' }, settings),
    /TAILRACE_SECRET_KEY: not set/,
  );
});

test('the egress proxy is a URL without a user, whose password is a secret of its own', () => {
  const read = (url: string, credentials = '') => {
    const env = { TAILRACE_EGRESS_PROXY: url, TAILRACE_EGRESS_PROXY_CREDENTIALS: credentials };
    return readSettings(env, Type.Object(receiverSettings())).proxy;
  };
  assert.equal(read(''), undefined);
  assert.deepEqual({ ...read('http://proxy:3128') }, { url: 'http://proxy:3128', credentials: undefined });
  assert.deepEqual(read('https://[::1]/', 'ada:pass:word')?.credentials, 'ada:pass:word');
  for (const url of [
    'socks5://proxy',
    'http://ada:S3CRET@proxy',
    'http://proxy/path',
    'http://proxy?a',
    'proxy:3128',
  ]) {
    assert.throws(() => read(url), /^(?!.*S3CRET).*TAILRACE_EGRESS_PROXY: invalid value/s, url);
  }
  assert.throws(
    () => read('http://proxy', 'S3CRET'),
    /^(?!.*S3CRET).*_CREDENTIALS: invalid value \(not shown\)/s,
  );
  assert.throws(() => read('', 'a:b'), /TAILRACE_EGRESS_PROXY: not set/);
});
