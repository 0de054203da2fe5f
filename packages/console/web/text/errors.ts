/** The beginning of an error message, by code; the API has the rest. */
export const errors = {
  failed: 'It did not work.',
  refused: 'The request was refused.',
  unreachable: 'The server does not answer.',
  unreadable: (status: number) =>
    `The answer (status ${status}) is not one of Tailrace. A proxy between this browser and control may have made it.`,
  dots: 'A name that is "." or ".." cannot be part of an address, so the console cannot do this.',
  'invalid-request': 'Some values are not valid.',
  'not-found': 'Not found.',
  forbidden: 'Not permitted.',
  conflict: 'This is not possible now.',
  'precondition-failed': 'Somebody else has changed this.',
  'history-unavailable': 'The history is not available.',
  'kafka-unavailable': 'Kafka is not available.',
  'too-many-requests': 'Too many requests.',
  expired: 'No longer available.',
};
