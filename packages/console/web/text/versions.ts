export const versions = {
  destination: 'Someone else changed this destination',
  source: 'Someone else changed this source',
  lead: 'Choose a value for each field that you both changed. All other changes are kept.',
  none: 'The changes do not conflict. Save to keep both.',
  yours: 'Yours',
  theirs: 'Theirs',
  field: 'Field',
  saveChosen: 'Save selected values',
  discard: 'Discard my changes',
  unset: 'not set',
};
