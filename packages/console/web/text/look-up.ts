/** The text for a code that others have chosen: `constructor` is no entry. */
export function lookUp<Text extends string>(
  texts: Readonly<Record<string, Text | object>>,
  code: string,
): Text | undefined {
  const found = Object.hasOwn(texts, code) ? texts[code] : undefined;
  return typeof found === 'string' ? found : undefined;
}
