// Posts large orders to a Microsoft Teams channel, as an adaptive card.
// URL: that of a Teams workflow "When a webhook request is received".

const least = 1000;

function transform({ event, userId, properties }) {
  if (event !== 'Order Completed' || !(properties.total >= least)) return null;
  const { order_id, total, currency, products = [] } = properties;
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            { type: 'TextBlock', size: 'Large', text: `Order of ${total} ${currency}` },
            {
              type: 'FactSet',
              facts: [
                { title: 'Order', value: order_id },
                { title: 'Customer', value: userId },
                { title: 'Products', value: String(products.length) },
              ],
            },
          ],
        },
      },
    ],
  };
}
