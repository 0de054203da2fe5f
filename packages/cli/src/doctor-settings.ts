/** Whether the settings are usable, each and together. */
import { isTailraceError } from '@tailrace/errors';
import {
  doubtfulVariables,
  duration,
  httpUrl,
  kafkaSettings,
  readSettings,
  schemaRegistryUrl,
  secret,
  secretKeys,
  topicSettings,
  type Environment,
} from '@tailrace/service';
import { formatDuration } from '@tailrace/topics';
import type { Finding } from './doctor.ts';

const hourMs = 3_600_000;

const shape = {
  kafka: kafkaSettings('tailrace-cli'),
  topics: topicSettings(),
  retryWindowMs: duration('TAILRACE_RETRY_WINDOW', 4 * hourMs, { maxMs: 4 * hourMs }),
  registry: schemaRegistryUrl(),
  secretKeys: secretKeys(),
  url: httpUrl('TAILRACE_URL'),
  token: secret('TAILRACE_API_TOKEN'),
};

export function checkSettings(env: Environment): Finding[] {
  const about = 'settings';
  try {
    const { topics, retryWindowMs } = readSettings(env, shape);
    const doubtful = doubtfulVariables(env, shape).map((sentence): Finding => ({
      level: 'warn',
      about,
      says: sentence,
    }));
    const late = lateSteps(topics.retryScheduleMs, retryWindowMs);
    if (late > 0) {
      doubtful.push({
        level: 'warn',
        about,
        says:
          `TAILRACE_RETRY_SCHEDULE goes beyond TAILRACE_RETRY_WINDOW (${formatDuration(retryWindowMs)}): ` +
          `its last ${late === 1 ? 'delay is' : `${late} delays are`} never used.`,
        hint: 'Shorten the schedule, or widen the window, 4 h at most.',
      });
    }
    return doubtful.length > 0 ? doubtful : [{ level: 'ok', about, says: 'usable' }];
  } catch (error) {
    if (!isTailraceError(error, 'invalid-settings')) throw error;
    return error.message.split('\n').map((says) => ({ level: 'fail', about, says }));
  }
}

/** How many of the delays, all attempts being instant, end beyond the window. */
function lateSteps(scheduleMs: readonly number[], windowMs: number): number {
  let sinceFirstMs = 0;
  return scheduleMs.filter((delayMs) => (sinceFirstMs += delayMs) > windowMs).length;
}
