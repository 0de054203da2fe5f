/** Returns a hash of 53 bits, so that it is improbable that two of a million users share a chain. */
export function hashKey(key: string): number {
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  for (let place = 0; place < key.length; place += 1) {
    const code = key.charCodeAt(place);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x85ebca6b);
    low ^= low >>> 15;
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}
