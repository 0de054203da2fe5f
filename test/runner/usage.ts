/**
 * Preloaded into the process of a test file: what it cost, written to the file that is named in the environment. The
 * processor time of its children counts once they have ended; it is known on Linux only.
 */
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** Names the file. */
export const usageVariable = 'TAILRACE_TEST_USAGE';

export interface Usage {
  /** Of the process and its children. */
  readonly cpuSeconds: number;
  /** The processes that it started. */
  readonly processes: number;
}

const file = process.env[usageVariable];
if (file !== undefined && isMainThread) {
  // Children that run a test file of their own do not report.
  Reflect.deleteProperty(process.env, usageVariable);
  let processes = 0;
  subscribe('child_process', () => {
    processes += 1;
  });
  process.on('exit', () => {
    writeFileSync(file, JSON.stringify({ cpuSeconds: cpuSeconds(), processes } satisfies Usage));
  });
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childrenSeconds();
}

function childrenSeconds(): number {
  const ticksPerSecond = 100;
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The fields after the name of the program, which may have spaces: cutime and cstime are the 16th and 17th of all.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
  } catch {
    return 0;
  }
}
