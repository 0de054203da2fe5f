export const filtered = {
  lead: 'Every event that a connected destination did not get, newest first, with the reason at that time.',
  search: 'Search the filtered events',
  reason: 'Reason',
  anyReason: 'any',
  list: 'Filtered events',
  none: 'No filtered event matches',
  noneLead: 'Loosen the search. An event that a destination got is among the deliveries.',
};
