/**
 * A Docker engine of its own for a test, which leaves nothing on the machine. It begins with the network of the machine, to build
 * images, and without a bridge and firewall rules. `isolate` gives it a network of its own, with bridges and published ports.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@tailrace/testing';
import { run } from '../tools/command.ts';

export interface Engine extends AsyncDisposable {
  /** Runs the client; resolves with its output. */
  readonly docker: (args: readonly string[]) => Promise<string>;
  /** A folder that goes with the engine. */
  readonly folder: string;
  /** The address of the engine. */
  readonly host: string;
  /**
   * Restarts the engine, with its images, in a network of its own: bridges, firewall rules and published ports are in it, and end
   * with it. Resolves with a function that runs a program in that network.
   */
  readonly isolate: () => Promise<(program: string, args: readonly string[]) => Promise<string>>;
}

/** Debian's client builds with BuildKit itself; others need the plugin buildx, where it is first in PATH without it. */
const client = existsSync('/usr/bin/docker') ? '/usr/bin/docker' : 'docker';

/** @throws Error that says what is missing: `dockerd` and root */
export async function startEngine(): Promise<Engine> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-docker-'));
  const host = `unix://${folder}/socket`;
  const docker = (args: readonly string[]): Promise<string> =>
    run(client, ['--host', host, ...args], { env: { DOCKER_BUILDKIT: '1' } });
  const folders = ['--data-root', `${folder}/data`, '--exec-root', `${folder}/exec`];
  const daemonArguments = [...folders, '--pidfile', `${folder}/pid`, '--host', host];
  const stopped = async (daemon: Daemon): Promise<void> => {
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    // dockerd leaves the mounts of network namespaces.
    const mounts = await readdir(`${folder}/exec/netns`).catch(() => []);
    for (const mount of mounts) {
      await run('umount', [`${folder}/exec/netns/${mount}`]).catch(() => undefined);
    }
  };
  let daemon: Daemon | undefined;
  const start = async (command: string, args: readonly string[]): Promise<Daemon> => {
    daemon = spawnDaemon(command, args);
    await responding(daemon, docker);
    return daemon;
  };
  const dispose = async (): Promise<void> => {
    if (daemon) await stopped(daemon);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await start('dockerd', [...daemonArguments, '--bridge=none', '--iptables=false']);
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    docker,
    folder,
    host,
    async isolate() {
      if (daemon) await stopped(daemon);
      // Programs take the place of the ones before, so that the process id is that of dockerd.
      const script = 'ip link set lo up && exec dockerd "$@"';
      const { child } = await start('unshare', ['--net', 'sh', '-c', script, 'sh', ...daemonArguments]);
      const network = `--net=/proc/${child.pid}/ns/net`;
      return (program, args) => run('nsenter', [network, program, ...args]);
    },
    [Symbol.asyncDispose]: dispose,
  };
}

interface Daemon {
  readonly child: ChildProcess;
  /** Resolves with why it ended. */
  readonly ended: Promise<string>;
}

function spawnDaemon(command: string, args: readonly string[]): Daemon {
  const child = spawn(command, args, { stdio: 'ignore' });
  const ended = once(child, 'exit').then(
    () => 'dockerd ended; it needs root',
    (error: unknown) => `dockerd cannot be started: ${String(error)}`,
  );
  return { child, ended };
}

async function responding({ ended }: Daemon, docker: Engine['docker']): Promise<void> {
  let over: string | undefined;
  void ended.then((reason) => (over = reason));
  await eventually(
    () => docker(['version']).then(() => 'answers', String),
    (outcome) => over !== undefined || outcome === 'answers',
  );
  if (over !== undefined) throw new Error(over);
}
