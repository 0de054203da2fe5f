/** An egress proxy on loopback: Debian's tinyproxy. */
import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { startProgram, untilReady } from '../processes/program.ts';
import { closedPort } from '../receivers/closed-port.ts';
import { toolPath } from '../tools/tools.ts';

export interface Tinyproxy {
  readonly url: string;
  readonly port: number;
  /** For files of the test; it is removed after it. */
  readonly folder: string;
  /** Kills it, with all its connections. */
  kill(): Promise<void>;
  /** Starts it again, on the same port. */
  restart(): Promise<void>;
}

/** @param credentials `user:password`, which it asks for */
export async function startTinyproxy(t: TestContext, credentials?: string): Promise<Tinyproxy> {
  const folder = await mkdtempDisposable(path.join(tmpdir(), 'tailrace-tinyproxy-'));
  const config = path.join(folder.path, 'tinyproxy.conf');
  const port = await closedPort();
  const lines = [`Port ${port}`, 'Listen 127.0.0.1', 'LogLevel Warning'];
  if (credentials !== undefined) lines.push(`BasicAuth ${credentials.replace(':', ' ')}`);
  await writeFile(config, `${lines.join('\n')}\n`);
  const command = await toolPath('tinyproxy');
  const start = async () => {
    const started = startProgram(command, ['-d', '-c', config]);
    await untilReady(async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.destroy();
    }, started);
    return started;
  };
  let program = await start();
  t.after(async () => {
    await program[Symbol.asyncDispose]();
    await folder.remove();
  });
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    folder: folder.path,
    async kill() {
      await program[Symbol.asyncDispose]();
    },
    async restart() {
      program = await start();
    },
  };
}
