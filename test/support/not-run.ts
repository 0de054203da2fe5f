/**
 * Tests that a machine cannot run, such as containers without a Docker engine. They are named where
 * they stand, and again in the last line of the run.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';

/** The runner sets it to a file that collects the parts. */
export const notRunVariable = 'TAILRACE_TEST_NOT_RUN';

/** Ends a test that cannot run here. `reason` says what is missing, and how to get it. */
export function notRun(context: TestContext, reason: string): void {
  const line = `${context.name}: ${reason.split('\n', 1)[0] ?? ''}`;
  const file = process.env[notRunVariable];
  if (file !== undefined) appendFileSync(file, `${line}\n`);
  process.stderr.write(`NOT RUN: ${line}\n`);
  context.skip(reason);
}

/** For a runner: an environment in which `notRun` collects into `file`, or where the runner of this runner collects. */
export function collectingNotRun(file: string): NodeJS.ProcessEnv {
  return { [notRunVariable]: process.env[notRunVariable] ?? file };
}

/** The parts that were collected in `file`. */
export function partsNotRun(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}
