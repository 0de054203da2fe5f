/** Programs for infra/release.ts, which do nothing but what it reads. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { Run } from '../../../infra/release.ts';

export interface StandIns {
  readonly run: Run;
  /** The command lines so far. */
  readonly calls: readonly string[];
}

export function imageDigest(target: string): string {
  return `sha256:${createHash('sha256').update(target).digest('hex')}`;
}

/** @param others runs what is not `docker` and `cosign` */
export function standIns(others: Run): StandIns {
  const calls: string[] = [];
  const run: Run = (program, args) => {
    calls.push([program, ...args].join(' '));
    const valueOf = (option: string): string => args[args.indexOf(option) + 1] ?? '';
    if (args.includes('--metadata-file')) {
      const built = { 'containerimage.digest': imageDigest(valueOf('--target')) };
      writeFileSync(valueOf('--metadata-file'), JSON.stringify(built));
    }
    return /^(docker|cosign)$/.test(program) ? Promise.resolve({ out: '', err: '' }) : others(program, args);
  };
  return { run, calls };
}
