export const filtered = {
  lead: 'Events that a connected destination did not receive, newest first, with the reason at the time.',
  search: 'Search filtered events',
  reason: 'Reason',
  anyReason: 'any',
  list: 'Filtered events',
  none: 'No matching filtered events',
  noneLead: 'Broaden the search. Events that a destination received are listed under Deliveries.',
};
