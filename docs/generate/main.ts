/** Writes the generated pages: `node docs/generate/main.ts settings`, or all of them without a name. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pages } from './pages.ts';

const wanted = process.argv.slice(2);
for (const [name, page] of Object.entries(pages)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  writeFileSync(path.join(import.meta.dirname, '..', `${name}.md`), page());
}
