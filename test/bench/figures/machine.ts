/** The machine and versions that the figures were measured on. */
import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { kafkaVersion } from '../../../infra/local/src/broker/jars.ts';

export interface Machine {
  /** ISO 8601, UTC. */
  readonly date: string;
  /** Short hash, with `-dirty` if the checkout differs from it. */
  readonly commit: string;
  readonly node: string;
  readonly kafka: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  /** Mean over the last minute before the start: other work on the machine falsifies the figures. */
  readonly loadBefore: number;
}

export function describeMachine(): Omit<Machine, 'kafka'> {
  return {
    date: new Date().toISOString(),
    commit: commit(),
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    loadBefore: loadavg()[0] ?? NaN,
  };
}

export function describeKafka(kind: 'container' | 'jvm'): string {
  return { jvm: `${kafkaVersion} on the local JVM`, container: `${kafkaVersion} in a container` }[kind];
}

/** Date, commit, versions and hardware, in three lines. */
export function renderMachine(machine: Machine): string {
  const { date, commit, node, kafka, cpu, cores, memoryGiB, kernel, loadBefore } = machine;
  return [
    `${date}, commit ${commit}`,
    `Node ${node}, Apache Kafka ${kafka}, ${cpu}, ${cores} cores, ${memoryGiB} GiB, kernel ${kernel}`,
    `Load average before the start: ${loadBefore.toFixed(2)}`,
  ].join('\n');
}

function commit(): string {
  try {
    const args = ['describe', '--always', '--dirty', '--abbrev=12'];
    return execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'unknown';
  }
}
