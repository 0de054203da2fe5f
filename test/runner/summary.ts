/** What a run prints at its end. */
import type { SecondRun } from './pool.ts';
import type { Outcome } from './run-job.ts';

export interface Summary {
  readonly passed: number;
  readonly failed: number;
  /** Files that failed and passed alone. */
  readonly flaky: readonly SecondRun[];
  /** Names of what cannot run on this machine. */
  readonly notRun: readonly string[];
  readonly outcomes: readonly Outcome[];
}

export function summaryOf(
  outcomes: readonly Outcome[],
  again: readonly SecondRun[],
  notRun: readonly string[],
): Summary {
  const flaky = again.filter(({ second }) => second.failed === 0);
  const isFlaky = (outcome: Outcome): boolean => {
    const files = again.filter(({ first }) => first === outcome);
    return files.length > 0 && files.every(({ second }) => second.failed === 0);
  };
  const counted = outcomes.map((outcome) => {
    const { passed } = outcome;
    // What failed the first time passed the second time.
    return isFlaky(outcome)
      ? { passed: passed + outcome.failed, failed: 0 }
      : { passed, failed: outcome.failed };
  });
  const sum = (key: 'passed' | 'failed'): number => counted.reduce((total, counts) => total + counts[key], 0);
  return { passed: sum('passed'), failed: sum('failed'), flaky, notRun, outcomes };
}

/** `1,834 passed, 0 failed, 2 flaky, 1 not run (Docker)`. */
export function lastLine({ passed, failed, flaky, notRun }: Summary): string {
  const parts = [`${whole(passed)} passed`, `${whole(failed)} failed`, `${whole(flaky.length)} flaky`];
  if (notRun.length > 0) parts.push(`${notRun.length} not run (${[...new Set(notRun)].join(', ')})`);
  return parts.join(', ');
}

/** The slowest jobs, the slowest first. */
export function slowest(outcomes: readonly Outcome[], count: number): readonly string[] {
  return [...outcomes]
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, count)
    .map(({ job, seconds, usage }) => `${seconds.toFixed(1).padStart(7)} s  ${job.name}${costOf(usage)}`);
}

/** A Markdown table of what each job cost, the dearest first. */
export function costTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes
    .map(({ job, seconds, usage }) => ({ name: job.name, seconds, ...usage }))
    .sort((a, b) => (b.cpuSeconds ?? 0) - (a.cpuSeconds ?? 0))
    .map(({ name, seconds, cpuSeconds, processes }) => {
      const waiting = cpuSeconds === undefined ? undefined : Math.max(0, seconds - cpuSeconds);
      const cells = [name, tenths(seconds), tenths(cpuSeconds), tenths(waiting), processes ?? ''];
      return `| ${cells.join(' | ')} |`;
    });
  return [
    '| file | seconds | processor | waiting | processes started |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
  ].join('\n');
}

function costOf(usage: Outcome['usage']): string {
  if (usage === undefined) return '';
  return ` (processor ${usage.cpuSeconds.toFixed(1)} s, ${usage.processes} processes)`;
}

function tenths(value: number | undefined): string {
  return value?.toFixed(1) ?? '';
}

function whole(value: number): string {
  return value.toLocaleString('en-US');
}
