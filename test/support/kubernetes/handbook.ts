/** The commands of the handbook, infra/README.md. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

const file = path.join(import.meta.dirname, '../../../infra/README.md');

/** The commands of each section; a command may continue on the next line after a backslash. */
export function handbook(): Map<string, string[]> {
  const sections = new Map<string, string[]>();
  for (const section of readFileSync(file, 'utf8').split(/^## /m).slice(1)) {
    const blocks = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, content = '']) => content);
    const lines = blocks.join('').replaceAll('\\\n', ' ').trim().split('\n');
    // Comments after a command explain it.
    const commands = lines.map((line) => line.replace(/\s+# .*$/, '')).filter((line) => line !== '');
    sections.set(section.split('\n', 1)[0] ?? '', commands);
  }
  return sections;
}
