/**
 * CPU time and memory of processes from /proc (proc(5)), so that measuring does not load them. CPU time has a
 * resolution of 10 ms; a run takes seconds.
 */
import { readFileSync, readdirSync } from 'node:fs';

/** `USER_HZ`, the unit of CPU time in /proc: 100 on every architecture that Node runs on. */
const ticksPerSecond = 100;

/** User and system time of a process and all its threads, ended ones included, in seconds. */
export function cpuSeconds(pid: number): number {
  return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8')).cpuSeconds;
}

/** Resident memory, in bytes. */
export function residentBytes(pid: number): number {
  return bytesOf(pid, 'VmRSS');
}

/** The highest resident memory since the start of the process, in bytes. */
export function peakBytes(pid: number): number {
  return bytesOf(pid, 'VmHWM');
}

function bytesOf(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1_024;
}

/**
 * The broker's JVM: the one that this process started, else the only one on the machine, such as one in a container.
 * Undefined if it cannot be identified.
 */
export function findBroker(): number | undefined {
  const jvms = readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isBroker(pid));
  const ours = jvms.filter((pid) => ancestorsOf(pid).includes(process.pid));
  const [found, ...others] = ours.length > 0 ? ours : jvms;
  return others.length === 0 ? found : undefined;
}

function isBroker(pid: number): boolean {
  try {
    const [command = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
    return /(^|\/)java$/.test(command) && args.includes('kafka.Kafka');
  } catch {
    // It has ended in the meantime.
    return false;
  }
}

function ancestorsOf(pid: number): number[] {
  const { parent } = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return parent > 1 ? [parent, ...ancestorsOf(parent)] : [];
}

/** Reads /proc/<pid>/stat. The command in its second field is in parentheses, and may contain parentheses and spaces. */
export function parseStat(stat: string): { readonly parent: number; readonly cpuSeconds: number } {
  const fromThird = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const field = (number: number): number => fromThird[number - 3] ?? NaN;
  return { parent: field(4), cpuSeconds: (field(14) + field(15)) / ticksPerSecond };
}

/** A figure of several processes, by name. */
export type ByProcess = Readonly<Record<string, number>>;

export interface CpuMeter {
  /** CPU seconds of each process since the meter was created. */
  read(): ByProcess;
}

/** Measures the processes with these ids, which may include this process. */
export function startCpuMeter(pids: ByProcess): CpuMeter {
  const take = (): ByProcess => mapValues(pids, cpuSeconds);
  const before = take();
  return { read: () => mapValues(take(), (seconds, name) => seconds - (before[name] ?? NaN)) };
}

export interface MemorySampler {
  /** Resident bytes of each process, one sample a second. */
  readonly samples: Readonly<Record<string, readonly number[]>>;
  stop(): void;
}

export function sampleMemory(pids: ByProcess): MemorySampler {
  const samples = mapValues(pids, (pid) => [residentBytes(pid)]);
  const timer = setInterval(() => {
    for (const [name, pid] of Object.entries(pids)) samples[name]?.push(residentBytes(pid));
  }, 1_000);
  return {
    samples,
    stop() {
      clearInterval(timer);
    },
  };
}

export function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}
