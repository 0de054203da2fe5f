/** A reporter of node:test: one JSON line at the end with the counts of a process and the files that failed. */
import type { TestEvent } from 'node:test/reporters';

/** Names the file in which a command leaves its counts. */
export const countsVariable = 'TAILRACE_TEST_COUNTS';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Absolute paths. */
  readonly failedFiles: readonly string[];
}

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failedFiles = new Set<string>();
  let counts = { passed: 0, failed: 0, skipped: 0 };
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.file !== undefined) failedFiles.add(data.file);
    // The last one is of the whole process.
    if (type === 'test:summary') {
      const { passed, skipped, tests, todo } = data.counts;
      counts = { passed, failed: tests - passed - skipped - todo, skipped };
    }
  }
  yield `${JSON.stringify({ ...counts, failedFiles: [...failedFiles] } satisfies Counts)}\n`;
}
