/** `npm run docs`: runs every npm script whose name begins with `docs:`. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
for (const script of Object.keys(scripts).filter((name) => name.startsWith('docs:'))) {
  execFileSync('npm', ['run', '--silent', script], { cwd: root, stdio: 'inherit' });
}
