// Opens an alert in PagerDuty while a destination fails, and resolves it when the destination has recovered.
// Sources: tailrace. URL: https://events.pagerduty.com/v2/enqueue
// The key of the integration is a part of the transform: everyone who may read the destination can read it.

const routingKey = 'REPLACE-WITH-YOUR-INTEGRATION-KEY';
const actions = { 'destination.failing': 'trigger', 'destination.recovered': 'resolve' };

function transform({ event, properties, timestamp }) {
  const action = actions[event];
  if (!action) return null;
  const { destinationId, reason, failedAttempts } = properties;
  const alert = {
    routing_key: routingKey,
    event_action: action,
    dedup_key: `tailrace/${destinationId}`,
  };
  if (action === 'resolve') return alert;
  return {
    ...alert,
    payload: {
      summary: `Webhooks to ${destinationId} are failing: ${reason}`,
      source: 'tailrace',
      severity: 'error',
      component: destinationId,
      timestamp,
      custom_details: { reason, failedAttempts },
    },
  };
}
