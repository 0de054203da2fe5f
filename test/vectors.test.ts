/** The Go library has a copy of the shared vectors, so that its module can be tested alone. Both are equal. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const packages = path.join(import.meta.dirname, '../packages');
const shared = path.join(packages, 'analytics-vectors');
const copies = path.join(packages, 'analytics-go/testdata');
const signatures = 'packages/signing/src/vectors.json';

test('the copies of the vectors in the Go module are equal to the vectors', () => {
  const files = readdirSync(shared).filter((name) => name.endsWith('.json'));
  assert.notDeepEqual(files, []);
  assert.deepEqual(
    readdirSync(copies).filter((name) => name.endsWith('.json')),
    [...files, 'signatures.json'].sort(),
  );
  for (const file of files) {
    assert.ok(
      readFileSync(path.join(shared, file)).equals(readFileSync(path.join(copies, file))),
      `cp packages/analytics-vectors/${file} packages/analytics-go/testdata/`,
    );
  }
  assert.ok(
    readFileSync(path.join(packages, '..', signatures)).equals(
      readFileSync(path.join(copies, 'signatures.json')),
    ),
    `cp ${signatures} packages/analytics-go/testdata/signatures.json`,
  );
});
