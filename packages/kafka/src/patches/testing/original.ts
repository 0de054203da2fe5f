/**
 * The library without patches and with them, in one process. Node has one copy of each module, and its files load some others late, so the
 * originals have a loader of their own.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import '../../library.ts';
import { libraryModule } from '../apply.ts';

type Run = (module: object, exports: unknown, require: (specifier: string) => unknown) => void;

const require = createRequire(import.meta.url);
const loaded = new Map<string, { readonly exports: unknown }>();

/** A module of the library as it is published. */
export function original(module: string): unknown {
  return load(require.resolve(`kafkajs/src/${module}`));
}

/** The same module as this package uses it. */
export function patched(module: string): unknown {
  return libraryModule(module);
}

function load(file: string): unknown {
  const known = loaded.get(file);
  if (known) return known.exports;
  const module = { exports: {} };
  loaded.set(file, module);
  const requireHere = createRequire(file);
  const code = readFileSync(file, 'utf8');
  const run = compileFunction(code, ['module', 'exports', 'require'], { filename: file }) as Run;
  run(module, module.exports, (specifier) => {
    const target = requireHere.resolve(specifier);
    return /\/kafkajs\/src\/.*\.js$/.test(target) ? load(target) : requireHere(specifier);
  });
  return module.exports;
}
