/** Writes the generated files: `node docs/generate/main.ts settings`, or all of them without a name. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pages } from './pages.ts';

const root = path.join(import.meta.dirname, '..', '..');
const wanted = process.argv.slice(2);
for (const [name, { file, text }] of Object.entries(pages)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  writeFileSync(path.join(root, file), await text());
}
