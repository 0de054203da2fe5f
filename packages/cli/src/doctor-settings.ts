/** Whether the settings are usable, each and together. */
import { isTailraceError } from '@tailrace/errors';
import { misspelledVariables, readSettings, type Environment } from '@tailrace/service';
import { formatDuration } from '@tailrace/topics';
import type { Finding } from './doctor.ts';
import { settings } from './settings.ts';

export function checkSettings(env: Environment): Finding[] {
  const about = 'settings';
  try {
    const { topics, retryWindowMs } = readSettings(env, settings);
    const warnings = misspelledVariables(env, settings).map((sentence): Finding => ({
      level: 'warn',
      about,
      says: sentence,
    }));
    const late = lateSteps(topics.retryScheduleMs, retryWindowMs);
    if (late > 0) {
      warnings.push({
        level: 'warn',
        about,
        says:
          `TAILRACE_RETRY_SCHEDULE goes beyond TAILRACE_RETRY_WINDOW (${formatDuration(retryWindowMs)}): ` +
          `its last ${late === 1 ? 'delay is' : `${late} delays are`} never used.`,
        hint: 'Shorten the schedule, or widen the window, 4 h at most.',
      });
    }
    return warnings.length > 0 ? warnings : [{ level: 'ok', about, says: 'usable' }];
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
