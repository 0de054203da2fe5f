import { readFile } from 'node:fs/promises';
import { TailraceError } from '@tailrace/errors';

const causes = { over: 'it ended', late: 'it does not respond' } as const;

/** `local-start-failed` with the cause and the end of the log. */
export async function startFailure(
  cause: keyof typeof causes,
  logFile: string,
  who = 'Apache Kafka',
): Promise<TailraceError> {
  const log = await readFile(logFile, 'utf8').catch(() => '');
  return new TailraceError(
    'local-start-failed',
    `${who} did not start: ${causes[cause]}. The end of ${logFile}:\n${lastLines(log)}`,
  );
}

/** The last lines of `text`, indented. */
export function lastLines(text: string): string {
  const lines = text.trimEnd().split('\n').slice(-15);
  return lines.map((line) => `  ${line}`).join('\n');
}
