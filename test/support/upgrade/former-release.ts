/**
 * The release before, as a commit of this repository with the packages of its own lock file. It is checked out and installed
 * once, outside of the checkout, and used again by later runs.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const checkout = path.join(import.meta.dirname, '../../..');

/** Names a commit. Without it, the newest tag before HEAD is used, or `lastRelease` where there is none. */
const variable = 'TAILRACE_UPGRADE_FROM';
/** The state before the work on operations, of which no version was tagged. To be removed with the first tag. */
const lastRelease = '97d524866a152e4112acb46c81c4cdca4e830a81';

export interface Release {
  readonly commit: string;
  /** The folder that `services/` is in. */
  readonly root: string;
}

/** This checkout, as it is. */
export const thisRelease: Release = { commit: 'this checkout', root: checkout };

/** Rejects with what is missing, and how to get it. */
export async function formerRelease(env: NodeJS.ProcessEnv): Promise<Release> {
  const commit = await formerCommit(env[variable]);
  const cache = path.join(env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'tailrace', 'releases');
  const root = path.join(cache, commit);
  if (!existsSync(root)) {
    const unfinished = path.join(cache, `${commit}.${process.pid}`);
    await mkdir(unfinished, { recursive: true });
    try {
      await install(commit, unfinished);
      await rename(unfinished, root);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  }
  return { commit: commit.slice(0, 12), root };
}

async function formerCommit(named: string | undefined): Promise<string> {
  const commitOf = async (revision: string): Promise<string> =>
    (await git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`)).trim();
  try {
    if (named !== undefined && named !== '') return await commitOf(named);
    const tag = await git('describe', '--tags', '--abbrev=0', 'HEAD^').catch(() => lastRelease);
    return await commitOf(tag.trim());
  } catch {
    throw new Error(
      named === undefined || named === ''
        ? `the release before (${lastRelease.slice(0, 12)}) is not in this clone; run \`git fetch --unshallow\`, or set ${variable}`
        : `${variable}: ${named} is not a commit of this repository`,
    );
  }
}

/** npm takes packages from its cache where it has them, so a second machine with that cache needs no network. */
async function install(commit: string, folder: string): Promise<void> {
  const archive = path.join(folder, 'archive.tar');
  await git('archive', '--output', archive, commit);
  await run('tar', ['-xf', archive, '-C', folder]);
  await rm(archive);
  await run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: folder,
  });
}

async function git(...args: readonly string[]): Promise<string> {
  return (await run('git', args, { cwd: checkout })).stdout;
}
