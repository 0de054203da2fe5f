/** Event names with `*`, which stands for any text, also the empty one. There is no other special character. */

/**
 * Whether a name matches one of the patterns. Exact names cost one look-up in a set. A pattern is searched from left to right
 * without going back, so that no name makes it slow.
 */
export function compilePatterns(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const wild = patterns.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split('*'));
  return (name) => {
    if (exact.has(name)) return true;
    for (const parts of wild) if (matches(parts, name)) return true;
    return false;
  };
}

/** @param parts the texts between the asterisks; at least two */
function matches(parts: readonly string[], name: string): boolean {
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  const end = name.length - last.length;
  let at = first.length;
  if (at > end || !name.startsWith(first) || !name.endsWith(last)) return false;
  for (let index = 1; index < parts.length - 1; index += 1) {
    const part = parts[index] ?? '';
    const found = name.indexOf(part, at);
    // The earliest place leaves the most text for the parts behind it.
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
