/** How a service is started on this machine: with the same file as in a cluster, and the Node of this process. */
import { delimiter, dirname, join } from 'node:path';
import { checkout } from './settings.ts';

/** `services/start.ts`, an executable that takes the name of a service. */
export const startScript = join(checkout, 'services', 'start.ts');

/** `env` with the Node of this process first in PATH, where {@link startScript} looks for it. */
export function withThisNode(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return { ...env, PATH: [dirname(process.execPath), env['PATH']].filter(Boolean).join(delimiter) };
}
