/**
 * Runs the test files that are its arguments, in this process. Tests begin when all files are imported: an import blocks the
 * process, on a busy machine for seconds, and tests on real time would count them.
 */
import { before } from 'node:test';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const imported = Promise.withResolvers<undefined>();
before(() => imported.promise);
for (const file of process.argv.slice(2)) await import(pathToFileURL(path.resolve(file)).href);
imported.resolve(undefined);
