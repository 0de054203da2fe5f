/** The folder in which test runs keep their caches, beside the installed packages; `npm ci` removes it. */
import path from 'node:path';

export const cacheFolder = path.join(import.meta.dirname, '../../node_modules/.cache/tailrace');

/**
 * The environment of a process that a test starts: it finds the project's own programs and Node first, and keeps
 * compiled code, which halves the CPU time that a service takes to start.
 */
export function testEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const programs = path.join(import.meta.dirname, '../../node_modules/.bin');
  return {
    ...env,
    PATH: `${programs}${path.delimiter}${env['PATH'] ?? ''}`,
    NODE_COMPILE_CACHE: env['NODE_COMPILE_CACHE'] ?? path.join(cacheFolder, 'compiled'),
  };
}
