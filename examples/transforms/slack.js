// Posts the operational events of Tailrace to a Slack channel.
// Sources: tailrace. URL: an incoming webhook of Slack.

const texts = {
  'destination.failing': ({ destinationId, reason }) => `:red_circle: ${destinationId} is failing: ${reason}`,
  'destination.recovered': ({ destinationId }) => `:large_green_circle: ${destinationId} has recovered`,
  'destination.disabling': ({ destinationId, disablesAt }) =>
    `:warning: ${destinationId} will be disabled at ${disablesAt}`,
  'destination.disabled': ({ destinationId }) => `:no_entry: ${destinationId} is disabled`,
  'deliveries.dead': ({ destinationId, count }) => `:skull: ${count} new dead letters of ${destinationId}`,
};

function transform({ event, properties, timestamp }) {
  const textOf = texts[event];
  // Not posted: config.changed and others.
  if (!textOf) return null;
  const text = textOf(properties);
  return {
    text,
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text } },
      { type: 'context', elements: [{ type: 'mrkdwn', text: `\`${event}\` at ${timestamp}` }] },
    ],
  };
}
