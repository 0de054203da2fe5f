/** The words of the API for states. */
export const status = {
  waiting: 'waiting',
  retrying: 'retrying',
  delivered: 'delivered',
  dead: 'dead',
  unknown: 'unknown',
  retry: 'retry',
  done: 'done',
  running: 'running',
  counting: 'counting',
  requested: 'requested',
  paused: 'paused',
  refused: 'refused',
  'no-destination': 'no destination',
  'no-traffic': 'no traffic',
};
