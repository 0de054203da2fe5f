/** Writes a generated page: `node docs/generate/main.ts settings`. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pages } from './pages.ts';

const name = process.argv[2] ?? '';
const page = Object.entries(pages).find(([page]) => page === name);
if (!page) throw new Error(`Give one of ${Object.keys(pages).join(', ')}`);
writeFileSync(path.join(import.meta.dirname, '..', `${name}.md`), page[1]());
