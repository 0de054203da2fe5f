/**
 * Builds the published files: `dist/esm` and `dist/cjs`, each with declarations and a package.json that sets the
 * module format.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const formats = [
  { folder: 'esm', type: 'module', options: [] },
  // `bundler` is the only resolution that supports CommonJS and current `exports`.
  {
    folder: 'cjs',
    type: 'commonjs',
    options: [
      '--module',
      'commonjs',
      '--moduleResolution',
      'bundler',
      '--verbatimModuleSyntax',
      'false',
      '--noCheck',
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
  // The compiler rewrites imports in JavaScript only. Not every compiler of a user resolves `.ts` from a
  // declaration.
  for (const file of globSync(path.join(outDir, '**/*.d.ts'))) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll(/(from '\.\.?\/[\w./-]+)\.ts'/g, "$1.js'"));
  }
  writeFileSync(path.join(outDir, 'package.json'), `${JSON.stringify({ type, sideEffects: false })}\n`);
}
