/**
 * A stand-in for the base image of the Dockerfile, where no image can be pulled: a plain Debian with the Node and npm of this
 * machine, and its certificates.
 */
import { copyFile, cp, mkdir, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cached } from '../tools/cache.ts';
import { run } from '../tools/command.ts';
import type { Engine } from './engine.ts';

/** Returns the name of the image. The first time it needs mmdebstrap, root and three minutes. */
export async function buildStandIn({ docker, folder }: Engine): Promise<string> {
  const system = await cached('docker-stand-in-bookworm', async (into) => {
    const packages = '--include=ca-certificates,libatomic1,libstdc++6';
    await run('mmdebstrap', ['--variant=minbase', packages, 'bookworm', path.join(into, 'system.tar')]);
  });
  await docker(['import', path.join(system, 'system.tar'), 'stand-in-debian']);
  const context = path.join(folder, 'stand-in');
  await mkdir(context);
  await copyFile(process.execPath, path.join(context, 'node'));
  const program = await realpath((await run('sh', ['-c', 'command -v npm'])).trim());
  await cp(path.join(path.dirname(program), '..'), path.join(context, 'npm'), {
    recursive: true,
    dereference: true,
  });
  await copyFile('/etc/ssl/certs/ca-certificates.crt', path.join(context, 'certificates.crt'));
  const lines = [
    'FROM stand-in-debian',
    'COPY node /usr/local/bin/node',
    'COPY npm /usr/local/lib/node_modules/npm',
    'COPY certificates.crt /etc/ssl/certs/ca-certificates.crt',
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && mkdir -p /usr/local/etc' +
      ' && echo cafile=/etc/ssl/certs/ca-certificates.crt > /usr/local/etc/npmrc',
  ];
  await writeFile(path.join(context, 'Dockerfile'), lines.join('\n'));
  await docker(['build', '--network', 'host', '--tag', 'stand-in-node', context]);
  return 'stand-in-node';
}
