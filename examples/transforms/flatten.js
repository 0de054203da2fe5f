// Makes an event one level deep, for a warehouse, a spreadsheet or a no-code tool: properties.cart.total becomes properties_cart_total.
// Lists become JSON.

function transform(event) {
  return flatten(event, '', {});
}

function flatten(value, prefix, row) {
  for (const [key, inner] of Object.entries(value)) {
    const column = prefix + columnOf(key);
    if (isMapping(inner)) flatten(inner, `${column}_`, row);
    else row[column] = Array.isArray(inner) ? JSON.stringify(inner) : inner;
  }
  return row;
}

// userId becomes user_id.
function columnOf(key) {
  return key
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[^a-zA-Z\d]+/g, '_')
    .toLowerCase();
}

// Not null, a list, or a number with more digits than JavaScript has.
function isMapping(value) {
  return value instanceof Object && Object.getPrototypeOf(value) === Object.prototype;
}
