/** Larger texts are cut, so that the page stays responsive. */
export const maxShown = 100_000;

/** Indented, if it is JSON. Its numbers keep their digits: `JSON.parse` would round 12345678901234567890. */
export function indentJson(source: string): string {
  if (source.length > maxShown) return source;
  try {
    JSON.parse(source);
  } catch {
    return source;
  }
  let depth = 0;
  const line = (): string => `\n${'  '.repeat(depth)}`;
  const tokens = source.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let result = '';
  for (const [index, token] of tokens.entries()) {
    const isEmpty =
      (token === '{' && tokens[index + 1] === '}') || (token === '[' && tokens[index + 1] === ']');
    if (token === '{' || token === '[') {
      depth += 1;
      result += isEmpty ? token : token + line();
    } else if (token === '}' || token === ']') {
      depth -= 1;
      const before = tokens[index - 1];
      result += before === '{' || before === '[' ? token : line() + token;
    } else if (token === ',') result += token + line();
    else result += token === ':' ? ': ' : token;
  }
  return result;
}
