/** Writes the table of errors into README.md: `node packages/errors/write-reference.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { withReference } from './src/reference.ts';

const readme = new URL('./README.md', import.meta.url);
writeFileSync(readme, withReference(readFileSync(readme, 'utf8')));
