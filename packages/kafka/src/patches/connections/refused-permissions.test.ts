import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSockets } from '../../sockets.ts';
import { original, patched } from '../testing/original.ts';
import { silent } from '../testing/silent.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { Definition, LookUp } from './request-versions.ts';

interface Refused {
  readonly refusal?: unknown;
}

const metadata = 3;

/** The error of a request for the metadata of two topics that Kafka refuses. */
async function refused(load: typeof original): Promise<unknown> {
  const { lookup, requests } = load('protocol/requests') as {
    lookup: LookUp;
    requests: { Metadata: Definition };
  };
  const request = lookup({ [metadata]: { maxVersion: 6 } })(metadata, requests.Metadata)({
    topics: ['events', 'decisions'],
  });
  const Pool = load('network/connectionPool') as new (options: object) => ConnectionPool;
  const pool = new Pool({ host: 'broker', port: 9092, logger: silent, socketFactory: openSockets().factory });
  const error = Object.assign(new Error('no'), { type: 'TOPIC_AUTHORIZATION_FAILED' });
  const connection = { isConnected: () => true, send: () => Promise.reject(error) };
  pool.pool[0] = connection;
  return pool.send(request).then(
    () => assert.fail('it is refused'),
    (failure: unknown) => failure,
  );
}

test('an authorization error names the operation and the resources', async () => {
  const before = (await refused(original)) as Refused;
  assert.equal(before.refusal, undefined, 'the original names nothing');
  const after = (await refused(patched)) as Refused;
  assert.deepEqual(after.refusal, {
    operation: 'Describe',
    resource: 'topic',
    names: ['events', 'decisions'],
  });
});
