/**
 * How modules of kafkajs are replaced: this is the only place.
 *
 * kafkajs is CommonJS. Its modules `require` each other when they are loaded, and Node keeps what a module exports in `require.cache`. So
 * before the library is loaded, each patch takes the exports of one module and puts others in their place; whatever loads that module
 * afterwards gets these. Two things follow:
 *
 * - A patch is applied before every module that loads the one that it replaces. The order of the list in library.ts sees to that.
 * - In a process that uses this package nothing loads kafkajs before this package does: the library would hold the originals.
 *
 * Both are checked: a module that was loaded before its patch is an error. A patch of text changes files while they are loaded.
 *
 * The version of kafkajs is pinned. The test of each patch shows the defect on the original, so it fails when a new version has no defect.
 */
import { createRequire, registerHooks } from 'node:module';
import type * as Library from 'kafkajs';

/** The text is put before the code of each file whose URL matches. */
interface TextPatch {
  readonly files: RegExp;
  readonly before: string;
}

interface ModulePatch {
  /** Below `kafkajs/src`. */
  readonly module: string;
  readonly replace: (original: never) => unknown;
}

export type Patch = TextPatch | ModulePatch;

/** A class of the library as patches extend it. `T` has the members that are used. */
// oxlint-disable-next-line typescript/no-explicit-any -- TypeScript asks for it where a class is extended.
export type LibraryClass<T> = new (...options: any[]) => T;

/** A patch of one module. `replace` returns the new exports. */
export function replacing<T>(module: string, replace: (original: T) => T): Patch {
  return { module, replace };
}

const require = createRequire(import.meta.url);

/** What a module of the library exports now. */
export function libraryModule(module: string): unknown {
  return require(`kafkajs/src/${module}`);
}

/** Loads the library with these patches. */
export function loadPatched(patches: readonly Patch[]): typeof Library {
  const texts = patches.filter((patch) => 'files' in patch);
  const hooks = registerHooks({
    load(url, context, load) {
      const loaded = load(url, context);
      const { source } = loaded;
      const before = texts.filter(({ files }) => files.test(url)).map((patch) => patch.before);
      if (before.length === 0 || typeof source !== 'string') return loaded;
      return { ...loaded, source: before.join('') + source };
    },
  });
  try {
    const replaced = new Set<string>();
    for (const patch of patches) if ('module' in patch) replaceExports(patch, replaced);
    return require('kafkajs') as typeof Library;
  } finally {
    hooks.deregister();
  }
}

function replaceExports({ module, replace }: ModulePatch, replaced: Set<string>): void {
  const path = require.resolve(`kafkajs/src/${module}`);
  if (require.cache[path] && !replaced.has(path)) {
    throw new Error(`kafkajs/src/${module} was loaded before its patch: load @tailrace/kafka before kafkajs`);
  }
  const original = require(path) as never;
  const entry = require.cache[path];
  if (entry) entry.exports = replace(original);
  replaced.add(path);
}
