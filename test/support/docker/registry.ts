/** A registry of images and charts on loopback, with nothing in it. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startProgram, untilReady } from '../processes/program.ts';
import { closedPort } from '../receivers/closed-port.ts';
import { toolPath } from '../tools/tools.ts';

export interface Registry extends AsyncDisposable {
  /** `127.0.0.1:<port>` */
  readonly host: string;
}

/** @param folder for its content */
export async function startRegistry(folder: string): Promise<Registry> {
  const host = `127.0.0.1:${await closedPort()}`;
  const config = path.join(folder, 'registry.json');
  const settings = {
    version: 0.1,
    storage: { filesystem: { rootdirectory: path.join(folder, 'registry') } },
    http: { addr: host },
  };
  await writeFile(config, JSON.stringify(settings));
  const program = startProgram(await toolPath('registry'), ['serve', config]);
  await untilReady(() => fetch(`http://${host}/v2/`), program);
  return { host, [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() };
}
