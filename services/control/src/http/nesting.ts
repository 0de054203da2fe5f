/** The nesting of JSON, which many recursive functions would follow to the end of the stack. */

/** More than any valid body has; filters of destinations nest deepest. */
export const maxNesting = 100;

const [quote, backslash, openList, closeList, openObject, closeObject] = Buffer.from('"\\[]{}');

/** Whether lists and objects in the text of JSON are nested deeper than `maxNesting`. One pass, without recursion. */
export function isNestedTooDeep(json: Buffer): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (isText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isText = false;
    } else if (byte === quote) {
      isText = true;
    } else if (byte === openList || byte === openObject) {
      depth += 1;
      if (depth > maxNesting) return true;
    } else if (byte === closeList || byte === closeObject) {
      depth -= 1;
    }
  }
  return false;
}
