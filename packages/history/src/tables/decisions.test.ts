/** Decisions of the router in a store of their own. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import {
  decisionQueries,
  decisionWriter,
  noDestination,
  type FilteredEvent,
  type FilteredEventFilter,
} from './decisions.ts';
import type { StoredDecision } from '../facts/facts.ts';
import { Retention, type HistoryLimits } from '../retention.ts';
import { openStore } from '../sqlite/store.ts';

const now = 1_800_000_000_000;

function openDecisions(t: TestContext, limits: Partial<HistoryLimits> = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'tailrace-decisions-'));
  const store = openStore(folder, 'cluster');
  t.after(() => {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const write = decisionWriter(store.db);
  return {
    db: store.db,
    write(decisions: readonly StoredDecision[]): void {
      store.transaction(() => {
        for (const decision of decisions) write(decision);
      });
    },
    queries: decisionQueries(store.db),
    retention: new Retention(store, { maxAgeMs: 86_400_000, maxBytes: 2 ** 30, ...limits }, () => now),
  };
}

function decision(n: number, more: Partial<StoredDecision> = {}): StoredDecision {
  return {
    eventId: `e-${n}`,
    sourceId: 'web',
    type: 'track',
    event: 'Signed Up',
    userKey: 'ada',
    decidedAt: now - n,
    routed: 0,
    filtered: [],
    ...more,
  };
}

function listed({ queries }: ReturnType<typeof openDecisions>, filter: FilteredEventFilter, limit: number) {
  const found: FilteredEvent[] = [];
  let slice = queries.listFilteredEvents(filter, limit);
  for (; ; slice = queries.listFilteredEvents(filter, limit, slice.reached)) {
    found.push(...slice.rows);
    if (!slice.reached) return found;
  }
}

test('each filter and each pair of filters lists the matching events in pages, newest first', (t) => {
  const opened = openDecisions(t);
  const reasons = ['disabled', 'integrations', 'filter'];
  opened.write(
    Array.from({ length: 90 }, (_, n) =>
      decision(n, {
        // Several of the same millisecond.
        decidedAt: now - Math.floor(n / 7),
        sourceId: n % 4 === 0 ? 'app' : 'web',
        userKey: n % 6 === 0 ? 'ben' : 'ada',
        filtered:
          n % 5 === 0
            ? []
            : [
                { reason: 'schema', count: 2, destinations: ['crm', 'erp'] },
                { reason: reasons[n % 3] ?? '', count: 1, destinations: ['mailer'] },
              ],
      }),
    ),
  );
  const all = listed(opened, {}, 1_000);
  assert.equal(all.length, 18 + 72 * 3);
  assert.equal(all.filter(({ reason }) => reason === noDestination).length, 18);
  assert.ok(all.every((one, index) => index === 0 || one.decidedAt <= (all[index - 1]?.decidedAt ?? 0)));
  const filter: fc.Arbitrary<FilteredEventFilter> = fc.record(
    {
      reason: fc.constantFrom('schema', noDestination, ...reasons),
      sourceId: fc.constantFrom('web', 'app', 'none', ['web', 'app'], []),
      userKey: fc.constantFrom('ada', 'ben', 'none'),
      destinationId: fc.constantFrom('crm', 'mailer', 'none', ['crm', 'mailer']),
      since: fc.integer({ min: now - 15, max: now }),
      until: fc.integer({ min: now - 15, max: now }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(filter, fc.integer({ min: 1, max: 20 }), (filter, limit) => {
      const { since = 0, until = Infinity, ...equal } = filter;
      const expected = all.filter(
        (one) =>
          Object.entries(equal).every(([name, value]) =>
            [value].flat().some((wanted) => one[name as keyof typeof one] === wanted),
          ) &&
          one.decidedAt >= since &&
          one.decidedAt < until,
      );
      assert.deepEqual(listed(opened, filter, limit), expected);
    }),
  );
});

test('an event names the rule of the filter of its own destination', (t) => {
  const opened = openDecisions(t);
  const rule = (text: string) => ({ path: 'condition', text });
  opened.write([
    decision(1, {
      filtered: [
        { reason: 'filter', rule: rule('properties.total atLeast 100'), count: 1, destinations: ['crm'] },
        { reason: 'filter', rule: rule('types track'), count: 1, destinations: ['erp'] },
      ],
    }),
  ]);
  assert.deepEqual(
    listed(opened, {}, 10).map(({ destinationId, rule }) => [destinationId, rule?.text]),
    [
      ['erp', 'types track'],
      ['crm', 'properties.total atLeast 100'],
    ],
  );
});

test('long ids are stored bounded, and found', (t) => {
  const opened = openDecisions(t);
  const long = (n: number): string => `${'x'.repeat(30_000)}${n}`;
  const filtered = [{ reason: long(1), count: 1, destinations: [long(2)] }];
  opened.write([decision(1, { eventId: long(3), event: long(4), userKey: long(5), filtered })]);
  const [found] = listed(opened, { reason: long(1), destinationId: long(2), userKey: long(5) }, 10);
  assert.deepEqual([found?.event?.length, found?.userKey.length, found?.eventId.length], [200, 200, 200]);
  assert.deepEqual(listed(opened, { reason: long(2) }, 10), []);
  assert.equal(opened.queries.decisionsOf(long(3)).length, 1);
});

test('a source with a flood of filtered events loses its own oldest, and nothing of another source', (t) => {
  const limits = { maxBytes: 4 * 2 ** 20 };
  const opened = openDecisions(t, limits);
  const { db, retention } = opened;
  opened.write(Array.from({ length: 50 }, (_, n) => decision(1_000 + n, { sourceId: 'quiet' })));
  const destinations = Array.from({ length: 100 }, (_, n) => `destination-${n}`);
  const filtered = [{ reason: 'disabled', count: 100, destinations }];
  opened.write(Array.from({ length: 500 }, (_, n) => decision(999 - n, { sourceId: 'noisy', filtered })));
  assert.ok(retention.bytes > limits.maxBytes);
  while (retention.bytes > limits.maxBytes && retention.prune());
  assert.ok(retention.bytes <= limits.maxBytes, `${retention.bytes} bytes`);
  assert.equal(listed(opened, { sourceId: 'quiet' }, 200).length, 50);
  const noisy = listed(opened, { sourceId: 'noisy' }, 200);
  assert.ok(noisy.length > 0 && noisy.length % 100 === 0, `${noisy.length} are left`);
  assert.equal(noisy[0]?.decidedAt, now - 500);
  const orphans = db.prepare(
    'SELECT count(*) AS rows FROM filtered_events WHERE decision NOT IN (SELECT row FROM decisions)',
  );
  assert.equal(orphans.get()?.['rows'], 0);
});

test('the size of each source is about what its rows take', (t) => {
  const opened = openDecisions(t);
  const before = opened.retention.bytes;
  const filtered = [{ reason: 'filter', count: 2, destinations: ['crm', 'erp'] }];
  opened.write(
    Array.from({ length: 2_000 }, (_, n) =>
      decision(n, { eventId: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`, filtered }),
    ),
  );
  const taken = opened.retention.bytes - before;
  const counted = Number(
    opened.db.prepare("SELECT sum(bytes) AS bytes FROM shares WHERE kind = 'decisions'").get()?.['bytes'],
  );
  assert.ok(counted > taken * 0.7 && counted < taken * 1.4, `${counted} counted, ${taken} taken`);
});
