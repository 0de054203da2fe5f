import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pages } from './pages.ts';

const root = path.join(import.meta.dirname, '..', '..');

for (const [name, { file, text }] of Object.entries(pages)) {
  test(`${file} is current`, async () => {
    assert.equal(readFileSync(path.join(root, file), 'utf8'), await text(), `run: npm run docs ${name}`);
  });
}
