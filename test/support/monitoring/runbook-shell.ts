/** A shell for the commands of runbooks: tailrace, curl and Kafka's tools are real, kubectl and helm only say that they were called. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { resolveJars } from '@tailrace/local';
import { limitMs } from '@tailrace/testing';
import type { Environment } from '../processes/process.ts';

export interface RunbookShell extends AsyncDisposable {
  /** Runs a block; rejects with its output if a command fails. */
  run(block: string): Promise<void>;
}

export interface RunbookShellOptions {
  readonly env: Environment;
  /** Arguments with which doctor finds the services of the test. */
  readonly doctorArguments: readonly string[];
}

const bin = path.join(import.meta.dirname, '../../../node_modules/.bin');

export async function openRunbookShell({ env, doctorArguments }: RunbookShellOptions): Promise<RunbookShell> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-runbooks-'));
  const jars = await resolveJars(process.env, () => undefined, new AbortController().signal);
  const programs: Readonly<Record<string, string>> = {
    kubectl: 'exit 0',
    helm: 'exit 0',
    tailrace: [
      `if [ "$1" = doctor ]; then shift; set -- doctor ${doctorArguments.join(' ')} "$@"; fi`,
      `exec '${bin}/tailrace' "$@"`,
    ].join('\n'),
    'kafka-configs.sh': `exec java -cp '${jars}' kafka.admin.ConfigCommand "$@"`,
  };
  for (const [name, script] of Object.entries(programs)) {
    const file = path.join(folder, name);
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
  }
  return {
    async run(block) {
      await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', block], {
        env: { PATH: `${folder}:${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`, ...env },
        timeout: limitMs,
      });
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
