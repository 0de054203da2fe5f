/** The demo's configuration file, and what the receiver must know of it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const demoConfigFile = join(import.meta.dirname, '..', 'demo.yaml');
/** As in demo.yaml. */
export const demoPort = 8082;
export const demoSecret = 'demo-secret';
export const demoWriteKey = 'wk_demo';

/** demo.yaml with its receiver on another port. */
export async function demoConfig(port: number): Promise<string> {
  const text = await readFile(demoConfigFile, 'utf8');
  return text.replace(`127.0.0.1:${demoPort}/`, `127.0.0.1:${port}/`);
}
