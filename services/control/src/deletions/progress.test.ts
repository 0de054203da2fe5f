import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { History } from '@tailrace/history';
import type { FastifyReply } from 'fastify';
import { Summaries } from '../history/summaries.ts';
import { createServer } from '../http/server.ts';
import type { DeletionRequest, Deletions } from './index.ts';
import { progressOf, sentBySource } from './progress.ts';
import { eventGroupOf } from './request.ts';
import { deletionRoutes } from './routes.ts';

const at = '2026-05-01T00:00:00.000Z';
const request: DeletionRequest = {
  id: 'r-1',
  createdAt: at,
  updatedAt: at,
  users: 3,
  content: '',
  sources: ['web', 'app', 'shop'].map((sourceId) => ({ sourceId, destinations: ['crm', 'erp'] })),
  unaffected: [],
  sent: 2,
};

test('each destination of a source has its own outcomes, and one that was connected later counts in none of them', () => {
  const [source, unsent] = sentBySource(request);
  assert.ok(source && unsent?.sent === 0);
  const outcomes = [
    { destinationId: 'crm', delivered: 2, dead: 0 },
    { destinationId: 'erp', delivered: 0, dead: 1 },
    { destinationId: 'later', delivered: 1, dead: 0 },
  ];
  assert.deepEqual(progressOf(source, outcomes), {
    sourceId: 'web',
    destinations: ['crm', 'erp'],
    sent: 2,
    delivered: 3,
    dead: 1,
    waiting: 0,
    byDestination: [
      { destinationId: 'crm', delivered: 2, dead: 0, waiting: 0 },
      { destinationId: 'erp', delivered: 0, dead: 1, waiting: 1 },
    ],
  });
});

test('the outcomes of a request are read a source at a time, and left out where all places for it are taken', async () => {
  const order: string[] = [];
  const read = (query: (queries: never) => unknown): unknown =>
    query({
      outcomesOfEvents(group: string) {
        order.push(group);
        setImmediate(() => order.push('other work'));
        return [];
      },
    } as never);
  const { app } = createServer([], { error: () => assert.fail('an error was logged') });
  const summaries = new Summaries();
  const history = { read } as unknown as Pick<History, 'read'>;
  const deletions = { get: () => request } as unknown as Deletions;
  deletionRoutes(app, { deletions, history, summaries });
  const sources = async () => {
    const { statusCode, body } = await app.inject('/deletions/r-1');
    assert.equal(statusCode, 200);
    return (JSON.parse(body) as { sources: { sent: number; waiting?: number }[] }).sources;
  };
  assert.deepEqual(
    (await sources()).map(({ waiting }) => waiting),
    [4, 0, 0],
  );
  const groups = request.sources.map(({ sourceId }) => eventGroupOf('r-1', sourceId));
  assert.deepEqual(order.slice(0, 5), [groups[0], 'other work', groups[1], 'other work', groups[2]]);

  const ended = Promise.withResolvers<number>();
  const reply = { raw: {}, request: {} } as FastifyReply;
  const long = [1, 2].map(() => summaries.read(reply, () => ended.promise));
  assert.deepEqual(
    (await sources()).map(({ sent, waiting }) => [sent, waiting]),
    [
      [2, undefined],
      [0, undefined],
      [0, undefined],
    ],
  );
  ended.resolve(1);
  await Promise.all(long);
  await app.close();
});
