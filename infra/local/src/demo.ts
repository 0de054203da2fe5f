/** The demo's configuration file, and the settings of its receiver. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const demoConfigFile = join(import.meta.dirname, '..', 'demo.yaml');
/** Must match demo.yaml. */
export const demoPort = 8082;
export const demoSecret = 'demo-secret';
export const demoWriteKey = 'wk_demo';

/** demo.yaml with another port of the receiver. */
export async function demoConfig(port: number): Promise<string> {
  const text = await readFile(demoConfigFile, 'utf8');
  return text.replace(`127.0.0.1:${demoPort}/`, `127.0.0.1:${port}/`);
}
