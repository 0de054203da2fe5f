import { readFile } from 'node:fs/promises';
import { TailraceError } from '@tailrace/errors';

/** `local-start-failed` with the event `what` and the end of the log, which has the cause. */
export async function startFailure(
  what: string,
  logFile: string,
  cause?: unknown,
  who = 'Apache Kafka',
): Promise<TailraceError> {
  const log = await readFile(logFile, 'utf8').catch(() => '');
  return new TailraceError(
    'local-start-failed',
    `${who} did not start: ${what}. The end of ${logFile}:\n${lastLines(log)}`,
    { cause },
  );
}

/** The last lines of `text`, indented. */
export function lastLines(text: string, count = 15): string {
  const lines = text.trimEnd().split('\n').slice(-count);
  return lines.map((line) => `  ${line}`).join('\n');
}
