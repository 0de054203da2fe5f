// Sends CloudEvents 1.0 in binary mode: the attributes are headers, and the data is the webhook body.
// settings.deliveryIdHeader: ce-id, an id that is the same in every attempt.

function transform(event) {
  const subject = event.userId ?? event.anonymousId ?? event['User ID'];
  return {
    body: event,
    headers: {
      'ce-specversion': '1.0',
      'ce-type': `com.example.${event.type}`,
      'ce-source': '/tailrace',
      'ce-subject': encodeURIComponent(subject),
      'ce-time': event.timestamp,
    },
  };
}
