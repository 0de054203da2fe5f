/** Why a sync did not send everything, and how to continue. Stored with the sync. */
import type { ErrorCode } from '@tailrace/errors';

export interface Problem {
  readonly code: ErrorCode;
  readonly message: string;
}

export const supersededProblem: Problem = {
  code: 'superseded',
  message: 'A later sync of this audience has taken over.',
};

export const sourceUnavailableProblem: Problem = {
  code: 'unknown-source',
  message: 'The source was disabled or deleted. Enable it, and sync again: only the rest is sent.',
};

export const destinationUnavailableProblem: Problem = {
  code: 'conflict',
  message:
    'The destination was disabled, disconnected or deleted. Connect and enable it, and sync again: only the rest is sent.',
};

export const stoppedProblem: Problem = {
  code: 'shutting-down',
  message: 'The control service was stopped. Sync again: only the rest is sent.',
};

export const tooLongProblem: Problem = {
  code: 'took-too-long',
  message:
    'The sync has taken the longest time that a limited token has for it. Sync again: only the rest is sent.',
};

export const silentProblem: Problem = {
  code: 'shutting-down',
  message: 'The control instance that ran the sync stopped reporting. Sync again: only the rest is sent.',
};
