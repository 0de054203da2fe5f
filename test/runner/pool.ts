/** Runs jobs, some at a time, and those that fail once more. */
import path from 'node:path';
import { fileJob, type Job } from './job.ts';
import type { Outcome } from './run-job.ts';

export type RunJob = (job: Job) => Promise<Outcome>;

/**
 * Starts the jobs in their order, at most `places` at a time. Half of the places take those that mostly wait first, the others those
 * that compute, so that the processors are busy throughout. `onEnd` is called as each ends.
 */
export async function runAll(
  jobs: readonly Job[],
  places: number,
  run: RunJob,
  onEnd: (outcome: Outcome) => void,
): Promise<readonly Outcome[]> {
  const [waiting, computing] = [jobs.filter(({ waits }) => waits), jobs.filter(({ waits }) => !waits)];
  const outcomes: Outcome[] = [];
  const work = async (place: number): Promise<void> => {
    const [own, others] = place % 2 === 0 ? [computing, waiting] : [waiting, computing];
    for (let job = own.shift() ?? others.shift(); job; job = own.shift() ?? others.shift()) {
      const outcome = await run(job);
      outcomes.push(outcome);
      onEnd(outcome);
    }
  };
  await Promise.all(Array.from({ length: places }, (_, place) => work(place)));
  return outcomes;
}

/** A file that failed, or a command that runs tests, and how it went alone. Other commands fail for the same reason again. */
export interface SecondRun {
  readonly file: string;
  readonly first: Outcome;
  readonly second: Outcome;
}

/** Runs each file that failed once more, alone. The only retry of a run. */
export async function runAgain(
  outcomes: readonly Outcome[],
  root: string,
  run: RunJob,
): Promise<readonly SecondRun[]> {
  const again: SecondRun[] = [];
  for (const first of outcomes) {
    for (const job of jobsAgain(first, root)) {
      again.push({ file: job.name, first, second: await run(job) });
    }
  }
  return again;
}

/** A process that ended outside of its tests failed in all its files. */
function jobsAgain({ job, failed, failedFiles }: Outcome, root: string): readonly Job[] {
  if (failed === 0) return [];
  if ('command' in job.run) return job.run.runsTests ? [job] : [];
  const { files } = job.run;
  const failedOnes = failedFiles.map((file) => path.relative(root, file));
  // A test may stand in a file that several test files share, such as a contract, and that runs nothing by itself.
  if (failedOnes.some((file) => !files.includes(file))) return [job];
  return (failedOnes.length === 0 ? files : failedOnes).map(fileJob);
}
