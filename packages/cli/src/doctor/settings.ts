/** Checks the settings, one by one and together. With invalid settings it is unknown where to look. */
import { isTailraceError } from '@tailrace/errors';
import { misspelledVariables, readSettings, type Environment } from '@tailrace/service';
import { formatDuration } from '@tailrace/events';
import { settings } from '../settings.ts';
import { findingsAbout, type Finding } from './finding.ts';

const { ok, warn, unknown } = findingsAbout('settings');

export function checkSettings(env: Environment): Finding[] {
  try {
    const { topics, retryWindowMs } = readSettings(env, settings);
    const warnings = misspelledVariables(env, settings).map((sentence) => warn(sentence));
    const late = lateSteps(topics.retryScheduleMs, retryWindowMs);
    if (late > 0) {
      const unused = late === 1 ? 'delay is' : `${late} delays are`;
      warnings.push(
        warn(
          `TAILRACE_RETRY_SCHEDULE is longer than TAILRACE_RETRY_WINDOW (${formatDuration(retryWindowMs)}): its last ${unused} never used.`,
          'Shorten the schedule, or extend the window to at most 4 h.',
        ),
      );
    }
    return warnings.length > 0 ? warnings : [ok('valid')];
  } catch (error) {
    if (!isTailraceError(error, 'invalid-settings')) throw error;
    return error.message.split('\n').map((says) => unknown(says));
  }
}

/** The number of delays that end after the window, if attempts take no time. */
function lateSteps(scheduleMs: readonly number[], windowMs: number): number {
  let sinceFirstMs = 0;
  return scheduleMs.filter((delayMs) => (sinceFirstMs += delayMs) > windowMs).length;
}
