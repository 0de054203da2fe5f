/** What happened to an event. */
export const outcomes = {
  routed: 'Routed',
  filtered: 'Filtered for all destinations',
  'no-destination': 'The source had no connected destination',
  rejected: 'Invalid',
  'not-routed': 'Accepted, not routed yet',
  'not-recorded': 'Routed; the decision was not recorded',
  'not-searched': 'Not everything could be searched',
  unknown: 'Not found',
};
