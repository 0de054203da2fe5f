import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progressOf } from './progress.ts';
import { deletionEventId, type DeletionRequest } from './request.ts';

test('each destination of a source has its own outcomes, and one that was connected later counts in none of them', () => {
  const at = '2026-05-01T00:00:00.000Z';
  const request: DeletionRequest = {
    id: 'r-1',
    createdAt: at,
    updatedAt: at,
    users: 3,
    content: '',
    sources: [{ sourceId: 'web', destinations: ['crm', 'erp'] }],
    unaffected: [],
    sent: 2,
  };
  const [first, second] = [0, 1].map((nth) => deletionEventId('r-1', 'web', nth));
  const outcomes = new Map([
    [first ?? '', { delivered: ['crm', 'later'], dead: ['erp'] }],
    [second ?? '', { delivered: ['crm'], dead: [] }],
  ]);
  assert.deepEqual(progressOf(request, { outcomesOfEvents: () => outcomes }), [
    {
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
    },
  ]);
});
