import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import test from 'node:test';
import fc from 'fast-check';
import { readCsvRow } from './csv-row.ts';
import { readMembers, type MembershipFormat, type UploadKind } from './read-members.ts';

/** Of changes, users who leave have a minus. */
async function read(
  content: string | Buffer,
  format: MembershipFormat,
  chunkBytes = 7,
  kind: UploadKind = 'replace',
): Promise<{ userIds: string[]; lines: number }> {
  const bytes = Buffer.from(content as string);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, nth) =>
    bytes.subarray(nth * chunkBytes, (nth + 1) * chunkBytes),
  );
  const userIds: string[] = [];
  let lines = 0;
  for await (const batch of readMembers(Readable.from(chunks), format, kind)) {
    userIds.push(...batch.users.map(({ userId, isMember }) => `${isMember ? '' : '-'}${userId}`));
    ({ lines } = batch);
  }
  return { userIds, lines };
}

const idsOf = async (...args: Parameters<typeof read>): Promise<string[]> => (await read(...args)).userIds;

test('NDJSON has a JSON string or an object with userId on each line; blank lines are skipped', async () => {
  const content =
    '{"userId":"ada"}\n\n"bob"\r\n  {"plan": 1, "userId": "c\\u00e9"}  \n{"userId":42}\n{"userId":1234567890123456789}';
  const userIds = ['ada', 'bob', 'cé', '42', '1234567890123456789'];
  assert.deepEqual(await read(content, 'ndjson'), { userIds, lines: 6 });
});

test('CSV has a header with a column userId, or one column without a header', async () => {
  assert.deepEqual(await idsOf('userId\nada\nbob\n', 'csv'), ['ada', 'bob']);
  assert.deepEqual(await idsOf('ada\nbob', 'csv'), ['ada', 'bob']);
  assert.deepEqual(await idsOf('plan,USER_ID,name\r\npro,ada,"A, B"\r\n,bob,\r\n', 'csv'), ['ada', 'bob']);
  assert.deepEqual(await idsOf('\ufeffuserid\nada', 'csv'), ['ada']);
  assert.deepEqual(await idsOf('"userId"\n"a ""quoted"" id"\n"two\nlines"\n x \n', 'csv'), [
    'a "quoted" id',
    'two\nlines',
    ' x ',
  ]);
});

test('the fields of a CSV row are not copied for each of its lines', () => {
  const begun = readCsvRow('ada,"two');
  const { fields } = readCsvRow('lines",bob', begun);
  assert.equal(fields, begun.fields);
  assert.deepEqual(fields, ['ada', 'two\nlines', 'bob']);
});

test('an empty file has no members', async () => {
  for (const format of ['ndjson', 'csv'] as const) {
    assert.deepEqual(await idsOf('', format), []);
    assert.deepEqual(await idsOf('\n\n', format), []);
  }
  assert.deepEqual(await idsOf('userId\n', 'csv'), []);
});

test('changes are NDJSON with lists of added and removed users, or CSV with columns of these names', async () => {
  const lines = '{"added":["ada",42],"removed":["bob"],"at":1}\n\n{"removed":["ada"]}\n{"added":[]}';
  assert.deepEqual(await idsOf(lines, 'ndjson', 7, 'change'), ['ada', '42', '-bob', '-ada']);
  const rows = 'plan,Removed,ADDED\npro,bob,ada\n,,cleo\n,dan,\n,,\n';
  assert.deepEqual(await idsOf(rows, 'csv', 7, 'change'), ['ada', '-bob', 'cleo', '-dan']);
  assert.deepEqual(await idsOf('removed\nbob\n', 'csv', 7, 'change'), ['-bob']);
  assert.deepEqual(await idsOf('', 'csv', 7, 'change'), []);
});

test('a whole membership is refused as changes, and changes as a whole membership', async () => {
  const cases: readonly (readonly [UploadKind, MembershipFormat, string, RegExp])[] = [
    ['change', 'ndjson', '"ada"', /^Line 1 must be \{"added"/],
    ['change', 'ndjson', '{"userId":"ada"}', /^Line 1 must be \{"added"/],
    ['change', 'ndjson', '{"added":"ada"}', /^Line 1 has added, which must be a list/],
    ['change', 'ndjson', '{"added":[null]}', /^Line 1 has a userId that is no string/],
    ['change', 'ndjson', '{"removed":[""]}', /^Line 1 has an empty userId/],
    ['change', 'csv', 'ada\nbob', /^Line 1 must be a header with a column added/],
    ['change', 'csv', 'userId\nada', /^Line 1 must be a header with a column added/],
    ['replace', 'ndjson', '{"added":["ada"]}', /^Line 1 has no userId/],
    ['replace', 'csv', 'added\nada', /^Line 1 has the columns of changes/],
    ['replace', 'csv', 'removed,added\nada,bob', /^Line 1 has the columns of changes/],
  ];
  for (const [kind, format, content, message] of cases) {
    await assert.rejects(read(content, format, 7, kind), { code: 'invalid-membership', message });
  }
});

test('an unreadable line is reported by number', async () => {
  const cases: readonly (readonly [MembershipFormat, string | Buffer, RegExp])[] = [
    ['ndjson', '"ada"\nbob\n', /^Line 2 is not JSON/],
    ['ndjson', '"ada"\n\n["bob"]', /^Line 3 must be/],
    ['ndjson', 'null', /^Line 1 must be/],
    ['ndjson', '7', /^Line 1 must be/],
    ['ndjson', '7.0', /^Line 1 must be/],
    ['ndjson', '{"id":"x"}', /^Line 1 has no userId/],
    ['ndjson', '{"userId":null}', /^Line 1 has a userId that is no string/],
    ['ndjson', '{"userId":1e400}', /^Line 1 has a userId that is no string/],
    ['ndjson', '{"userId":1.5}', /^Line 1 has a userId that is no string/],
    ['ndjson', '"a"\n""', /^Line 2 has an empty userId/],
    [
      'ndjson',
      `"a"\n"${'x'.repeat(1_025)}"`,
      /^Line 2 has a userId, which must not be longer than 1,024 characters/,
    ],
    ['ndjson', '"\\ud800"', /^Line 1 has a userId, which must not contain half a surrogate pair/],
    ['ndjson', Buffer.from('"a"\n"b"\n"\xff"\n"c"', 'latin1'), /^Line 3 is not UTF-8/],
    ['ndjson', `"a"\n"${'x'.repeat(70_000)}`, /^Line 2 is longer than 64 KB/],
    ['ndjson', `"a"\n"${'x'.repeat(70_000)}"\n"b"\n`, /^Line 2 is longer than 64 KB/],
    ['csv', 'a,b\n1,2', /^Line 1 must be a header with a column userId/],
    ['csv', 'userId,plan\nada,pro\nbob', /^Line 3 has 1 column, and the first row 2/],
    ['csv', 'ada\nbob,pro', /^Line 2 has 2 columns, and the first row 1/],
    ['csv', 'userId,plan\n,pro', /^Line 2 has an empty userId/],
    ['csv', 'userId\n"ada', /^Line 2 has a quoted field that does not end/],
    ['csv', 'userId\n"ada"x', /^Line 2 has something between a closing quote/],
    ['csv', 'userId\na"da', /^Line 2 has a quote inside a field/],
    ['csv', `userId\n"${'x\n'.repeat(70_000)}`, /^Line 2 is longer than 64 KB/],
  ];
  for (const [format, content, message] of cases) {
    for (const chunkBytes of [61, 1 << 20]) {
      await assert.rejects(read(content, format, chunkBytes), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'invalid-membership');
        assert.match(error.message, message);
        return true;
      });
    }
  }
});

const userId = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 });

test('all written ids are read, independent of how the stream is split into chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(userId, { maxLength: 20 }),
      fc.integer({ min: 1, max: 40 }),
      async (ids, cut) => {
        const lines = ids.map((id) => JSON.stringify({ userId: id }));
        assert.deepEqual(await idsOf(lines.join('\n'), 'ndjson', cut), ids);
        // A line that ends with a carriage return is read without it, as RFC 4180 writes lines.
        const rows = ['userId', ...ids].map((id) => `"${id.replaceAll('"', '""')}"`);
        const expected = ids.map((id) => id.replaceAll('\r\n', '\n'));
        assert.deepEqual(await idsOf(rows.join('\r\n'), 'csv', cut), expected);
      },
    ),
  );
});
