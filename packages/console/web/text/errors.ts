/** The beginning of an error message, by code; the API has the rest. */
export const errors = {
  failed: 'Something went wrong.',
  refused: 'The request was refused.',
  unreachable: 'The server is not responding.',
  unreadable: (status: number) =>
    `The response (status ${status}) did not come from Tailrace. A proxy between your browser and control may have sent it.`,
  dots: 'A name that is "." or ".." cannot be part of an address, so the console cannot do this.',
  'invalid-request': 'Some values are invalid.',
  'not-found': 'Not found.',
  forbidden: 'Not permitted.',
  conflict: 'This is not possible right now.',
  'precondition-failed': 'Someone else changed this.',
  'history-unavailable': 'The history is not available.',
  'kafka-unavailable': 'Kafka is not available.',
  'too-many-requests': 'Too many requests.',
  expired: 'No longer available.',
};
