/** Why a sync did not send everything, and how to continue. Stored with the sync. */

export const supersededProblem = {
  code: 'superseded',
  message: 'A later sync of this audience has taken over.',
};

export const sourceUnavailableProblem = {
  code: 'unknown-source',
  message: 'The source was disabled or deleted. Enable it, and sync again: only the rest is sent.',
};

export const stoppedProblem = {
  code: 'shutting-down',
  message: 'The control service was stopped. Sync again: only the rest is sent.',
};

export const silentProblem = {
  code: 'shutting-down',
  message: 'The control instance that ran the sync stopped reporting. Sync again: only the rest is sent.',
};
