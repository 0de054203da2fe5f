// Keeps users, events and purchases in Braze: identify and track calls become a request of /users/track.
// URL: https://rest.iad-01.braze.com/users/track. settings.auth: { token: env:BRAZE_KEY }

function transform({ type, event, userId, timestamp, properties, traits }) {
  // Visitors who are not known yet have an anonymousId.
  if (!userId) return null;
  const user = { external_id: userId };
  if (type === 'identify') {
    const { firstName, lastName, ...others } = traits;
    return { attributes: [{ ...user, first_name: firstName, last_name: lastName, ...others }] };
  }
  if (type !== 'track') return null;
  if (event !== 'Order Completed') {
    return { events: [{ ...user, name: event, time: timestamp, properties }] };
  }
  return {
    purchases: (properties.products ?? []).map(({ sku, price, quantity }) => ({
      ...user,
      product_id: sku,
      currency: properties.currency,
      price,
      quantity,
      time: timestamp,
    })),
  };
}
