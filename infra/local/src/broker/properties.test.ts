import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerProperties, formatEnvironment, formatProperties, jvmProperties } from './properties.ts';

test('on the JVM everything listens on loopback', () => {
  const properties = jvmProperties({ logDir: '/data/log', port: 9092, controllerPort: 20_001 });
  const addresses = [properties['listeners'], properties['advertised.listeners']].join(',').split(',');
  assert.deepEqual(addresses, [
    'BROKER://127.0.0.1:9092',
    'CONTROLLER://127.0.0.1:20001',
    'BROKER://127.0.0.1:9092',
  ]);
});

test('clients outside of a container get the published address', () => {
  const properties = containerProperties({ logDir: '/data', port: 9092, advertised: '127.0.0.1:20002' });
  assert.match(String(properties['advertised.listeners']), /^CLIENT:\/\/127\.0\.0\.1:20002,/);
});

test('the image gets properties as environment variables', () => {
  assert.deepEqual(formatEnvironment({ 'log.dirs': '/data', 'node.id': 1 }), {
    KAFKA_LOG_DIRS: '/data',
    KAFKA_NODE_ID: '1',
  });
});

test('a backslash in a path is escaped in the properties file', () => {
  assert.equal(formatProperties({ 'log.dirs': 'C:\\data' }), 'log.dirs=C:\\\\data\n');
});
