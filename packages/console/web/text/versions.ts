export const versions = {
  destination: 'Somebody else has changed this destination',
  source: 'Somebody else has changed this source',
  lead: 'Choose a value for each field that both of you changed. All other changes are kept.',
  none: 'The other changes do not concern yours. Save to keep both.',
  yours: 'Yours',
  theirs: 'Theirs',
  field: 'Field',
  saveChosen: 'Save the chosen values',
  discard: 'Discard my changes',
  unset: 'not set',
};
