import assert from 'node:assert/strict';
import test from 'node:test';
import { TailraceError } from '@tailrace/errors';
import { audiencePaths } from '../audiences/routes.ts';
import { deletionPaths } from '../deletions/routes.ts';
import { recallPaths } from '../replays/recall-routes.ts';
import { createUpToDate } from './current.ts';

/** Topics whose reads are recorded; `read` decides how one ends. */
function followed({ healthy = true, read = () => Promise.resolve() } = {}) {
  const reads: string[] = [];
  const topic = (name: string) => ({
    refresh() {
      reads.push(name);
      return read();
    },
  });
  const config = { ...topic('config'), healthy };
  const byRoute = [
    [recallPaths, topic('recalls')],
    [deletionPaths, topic('deletions')],
    [audiencePaths, topic('audiences')],
  ] as const;
  return { reads, upToDate: createUpToDate({ config, sessions: topic('sessions'), byRoute }) };
}

test('a request reads the configuration, the topic of its route, and the ended sessions if it has one', async () => {
  const { reads, upToDate } = followed();
  await upToDate('/v1/sources/:id');
  assert.deepEqual(reads.splice(0), ['config']);
  await upToDate('/v1/destinations/:id/recall');
  assert.deepEqual(reads.splice(0), ['config', 'recalls']);
  await upToDate('/v1/deletions/:id');
  assert.deepEqual(reads.splice(0), ['config', 'deletions']);
  await upToDate('/v1/sources/:id/audiences');
  assert.deepEqual(reads.splice(0), ['config', 'audiences']);
  await upToDate('/v1/sources', true);
  assert.deepEqual(reads, ['config', 'sessions']);
});

test('a request waits for the read', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const { upToDate } = followed({ read: () => promise });
  let isAnswered = false;
  const answered = upToDate('/v1/sources').then(() => (isAnswered = true));
  await new Promise(setImmediate);
  assert.equal(isAnswered, false);
  resolve(undefined);
  await answered;
});

test('without Kafka, a request is answered from what was read before', async () => {
  const down = followed({ healthy: false });
  await down.upToDate('/v1/sources');
  assert.deepEqual(down.reads, []);
  await followed({ read: () => Promise.reject(new TailraceError('kafka-unavailable')) }).upToDate(
    '/v1/sources',
  );
});

test('a request waits for a Kafka that takes seconds, and not for one that hangs', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let isAnswered = false;
  const { upToDate } = followed({ read: () => new Promise(() => undefined) });
  const answered = upToDate('/v1/sources').then(() => (isAnswered = true));
  t.mock.timers.tick(4_000);
  await new Promise(setImmediate);
  assert.equal(isAnswered, false);
  t.mock.timers.tick(1_000);
  await answered;
});
