// Sends track calls to Google Analytics 4 by the Measurement Protocol.
// URL: https://www.google-analytics.com/mp/collect?measurement_id=…&api_secret=…

const names = new Map([
  ['Product Viewed', 'view_item'],
  ['Product Added', 'add_to_cart'],
  ['Checkout Started', 'begin_checkout'],
  ['Order Completed', 'purchase'],
]);

function transform({ type, event, userId, anonymousId, timestamp, properties }) {
  if (type !== 'track') return null;
  const { order_id, total, currency, products = [], ...others } = properties;
  return {
    client_id: anonymousId ?? userId,
    user_id: userId,
    timestamp_micros: Date.parse(timestamp) * 1000,
    events: [
      {
        name: names.get(event) ?? event.toLowerCase().replace(/\W+/g, '_').slice(0, 40),
        params: {
          ...others,
          transaction_id: order_id,
          value: total,
          currency,
          items: products.map(({ sku, name, price, quantity }) => ({
            item_id: sku,
            item_name: name,
            price,
            quantity,
          })),
        },
      },
    ],
  };
}
