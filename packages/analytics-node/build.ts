/** What is published: `dist/esm` and `dist/cjs`, each with its declarations, and a marker of the format its files are in. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const formats = [
  { folder: 'esm', type: 'module', options: [] },
  // `bundler` is the one resolution that goes with CommonJS without an old interpretation of `exports`.
  {
    folder: 'cjs',
    type: 'commonjs',
    options: [
      ...['--module', 'commonjs', '--moduleResolution', 'bundler'],
      ...['--verbatimModuleSyntax', 'false', '--noCheck'],
    ],
  },
];

const dist = path.join(import.meta.dirname, 'dist');
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

rmSync(dist, { recursive: true, force: true });
for (const { folder, type, options } of formats) {
  const outDir = path.join(dist, folder);
  const project = path.join(import.meta.dirname, 'tsconfig.build.json');
  execFileSync(process.execPath, [tsc, '-p', project, '--outDir', outDir, ...options], { stdio: 'inherit' });
  // The compiler rewrites imports in its JavaScript only; not every user's resolves `.ts` from a declaration.
  for (const file of globSync(path.join(outDir, '*.d.ts'))) {
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
  }
  writeFileSync(path.join(outDir, 'package.json'), `${JSON.stringify({ type })}\n`);
}
