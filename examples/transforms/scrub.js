// Masks e-mail addresses and card numbers in what people have typed: in all texts of an event but its ids.
// `fields` of a destination removes or hashes whole fields, and costs less.

const address = /[\w.+-]+@[\w-]+(\.[\w-]+)+/g;
const card = /\b\d(?:[ -]?\d){12,18}\b/g;

function transform({ properties, traits, ...event }) {
  return { ...event, properties: scrub(properties), traits: scrub(traits) };
}

function scrub(value) {
  if (typeof value === 'string') return value.replace(address, '[e-mail]').replace(card, '[card]');
  if (Array.isArray(value)) return value.map(scrub);
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, scrub(inner)]));
}

// Not null, and not a number with more digits than JavaScript has.
function isMapping(value) {
  return value instanceof Object && Object.getPrototypeOf(value) === Object.prototype;
}
