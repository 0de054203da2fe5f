import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pages } from './pages.ts';

for (const [name, page] of Object.entries(pages)) {
  test(`docs/${name}.md is current`, () => {
    const written = readFileSync(path.join(import.meta.dirname, '..', `${name}.md`), 'utf8');
    assert.equal(written, page(), `run: npm run docs:${name}`);
  });
}
