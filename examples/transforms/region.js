// Sends the events of users in the European Union to a receiver there, and all others to the first one.
// URLs: the receiver of the rest of the world, then that in the European Union.

const union = new Set(
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' '),
);

function transform(event) {
  const country = event.traits?.country ?? event.context?.location?.country;
  return { body: event, url: union.has(country) ? 1 : 0 };
}
