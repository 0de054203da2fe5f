/**
 * An archive of the classes that a broker loads, beside the cached jars. With it, a JVM starts in two thirds of the time and of
 * the processor time. The first broker writes it when it is ready, with `jcmd`; where that is missing, starts stay slower.
 */
import { execFile } from 'node:child_process';
import { hash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface ClassArchive {
  /** Options of each JVM with this class path. */
  options(): readonly string[];
  /** Writes the archive, unless there is one. `pid` resolves with that of a broker that was started with `options`. */
  write(pid: () => Promise<number>): Promise<void>;
}

/** @param java the command; the archive of one version of Java does not fit another */
export async function classArchive(java: string, classPath: string): Promise<ClassArchive> {
  const { stderr: version } = await run(java, ['-version']);
  const file = `${dirname(classPath)}-${hash('sha256', version).slice(0, 12)}.jsa`;
  return {
    options: () => [existsSync(file) ? `-XX:SharedArchiveFile=${file}` : '-XX:+RecordDynamicDumpInfo'],
    async write(pid) {
      if (existsSync(file)) return;
      const partial = `${file}.partial-${randomUUID()}`;
      try {
        await run('jcmd', [String(await pid()), 'VM.cds', 'dynamic_dump', partial]);
        await rename(partial, file);
      } catch {
        await rm(partial, { force: true });
      }
    },
  };
}
