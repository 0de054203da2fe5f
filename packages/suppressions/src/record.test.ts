import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  decodeSuppression,
  deletedBefore,
  deletedUntil,
  encodeDeleted,
  encodeSuppressed,
  suppressedKey,
} from './record.ts';

const bytes = (text: string | Buffer | null | undefined): Buffer | null =>
  typeof text === 'string' ? Buffer.from(text) : (text ?? null);
const decode = (key: string, value: unknown) =>
  decodeSuppression({ key: Buffer.from(key), value: value === null ? null : bytes(JSON.stringify(value)) });

test('a record is decoded as it was encoded, with any id of a user', () => {
  const userIds = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(userIds, (userId) => {
      const since = '2026-11-22T10:00:00.000Z';
      const suppressed = { kind: 'suppressed', userId, since } as const;
      const before = { partition: 3, offset: 41 };
      const requests = [
        { id: 'q', at: since },
        { id: 'r', at: since, before },
      ];
      const deleted = { kind: 'deleted', userId, scope: 'web', requests } as const;
      for (const entry of [suppressed, deleted]) {
        const { key, value } =
          entry.kind === 'deleted' ? encodeDeleted('topic', entry) : encodeSuppressed('topic', entry);
        const found = decodeSuppression({ key: bytes(key), value: bytes(value) });
        assert.deepEqual(found?.entry, entry);
        const lifted = decodeSuppression({ key: bytes(key), value: null });
        assert.deepEqual([lifted?.kind, lifted?.userId, lifted?.entry], [entry.kind, userId, undefined]);
      }
    }),
  );
});

test('a record that is not valid is not decoded', () => {
  assert.equal(decodeSuppression({ key: null, value: null }), undefined);
  assert.equal(decode('other/ada', {}), undefined);
  assert.equal(decode('suppressed/', { since: '2026-11-22' }), undefined);
  assert.equal(decode('deleted/web', { requests: [] }), undefined);
  for (const value of [7, [], 'text', {}, { since: 7 }, { since: 'yesterday' }]) {
    assert.equal(decode(suppressedKey('ada'), value), undefined, JSON.stringify(value));
  }
  for (const requests of [
    undefined,
    null,
    'text',
    [],
    [null],
    [{ id: 'r' }],
    [{ id: 'r', at: 'soon' }],
    [{ id: 'r', at: '2026-11-22', before: { partition: 1 } }],
  ]) {
    assert.equal(decode('deleted/*/ada', { requests }), undefined, JSON.stringify(requests));
  }
  assert.equal(decodeSuppression({ key: Buffer.from('suppressed/ada'), value: Buffer.from('{') }), undefined);
});

test('the latest of several deletions of a user counts', () => {
  const requests = ['2026-11-22T10:00:00.000Z', '2026-11-23T10:00:00.000Z', '2026-11-21T10:00:00.000Z'];
  const at = deletedUntil({ requests: requests.map((at, nth) => ({ id: `r-${nth}`, at })) });
  assert.equal(new Date(at).toISOString(), '2026-11-23T10:00:00.000Z');
});

test('the place in events of the latest deletion counts, and that of one which was continued after it', () => {
  const at = '2026-11-22T10:00:00.000Z';
  const of = (...offsets: readonly (number | undefined)[]) =>
    deletedBefore({
      requests: offsets.map((offset, n) => ({
        id: `r-${n}`,
        at,
        before: offset === undefined ? undefined : { partition: 3, offset },
      })),
    });
  assert.deepEqual(of(41, 57), { partition: 3, offset: 57 });
  assert.deepEqual(of(57, 41), { partition: 3, offset: 57 });
  assert.deepEqual(of(undefined, 57), { partition: 3, offset: 57 });
  // Events between the two would be sent.
  assert.equal(of(57, undefined), undefined);
  assert.equal(of(undefined), undefined);
});
