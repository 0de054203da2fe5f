/**
 * Parses JSON without loss of digits. `JSON.parse` reads 9007199254740993 as 9007199254740992, and 1e400 as Infinity, which is
 * then written as null. Here, a number that a double does not hold keeps its text (number.ts).
 *
 * Most texts contain no such number, which a scan of their characters detects; `JSON.parse` then reads them unchanged.
 * Otherwise, each such number is replaced by a marked string before parsing, and by a raw number afterwards. A reviver would take
 * three times as long, and its recursion would run out of stack where a call is nested thousands of levels deep.
 */
import { randomBytes } from 'node:crypto';
import { asJavaScript } from './number.ts';

/**
 * Like `JSON.parse`, but a number that a double does not hold becomes a raw number, which keeps its text.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return parseSizedJson(text).value;
}

export interface SizedJson {
  readonly value: unknown;
  /** How many characters numbers gain when the value is written, as 17 for `1e20`. Nothing else becomes longer. */
  readonly growth: number;
}

/** {@link parseJson}, for texts whose size is limited. */
export function parseSizedJson(text: string): SizedJson {
  const { marked, growth } = scan(text);
  if (marked === text) return { value: JSON.parse(text), growth };
  try {
    return { value: withoutMarks(JSON.parse(marked)), growth };
  } catch (error) {
    // Throws the error for the original text.
    JSON.parse(text);
    throw error;
  }
}

/** The prefix of a marked number. Random, so that a sender cannot write it. */
const mark = `${randomBytes(12).toString('base64url')}:`;

const [quote, backslash, minus, point, zero, nine] = [0x22, 0x5c, 0x2d, 0x2e, 0x30, 0x39] as const;
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** A number in the place of a key is not valid JSON, and must not become valid. */
const colonNext = /\s*:/y;

/** Replaces each number that has to keep its text by a string that begins with the mark, and measures how the others grow. */
function scan(json: string): { readonly marked: string; readonly growth: number } {
  let marked = '';
  let copied = 0;
  let growth = 0;
  for (let at = 0; at < json.length;) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      at = endOfString(json, at + 1);
    } else if (code === minus || isDigit(code)) {
      const start = at;
      at = endOfNumber(json, start);
      if (isShort(json, start, at)) continue;
      const text = json.slice(start, at);
      if (!number.test(text)) continue;
      const written = asJavaScript(text);
      colonNext.lastIndex = at;
      if (written !== undefined) {
        growth += Math.max(0, written.length - text.length);
      } else if (!colonNext.test(json)) {
        marked += `${json.slice(copied, start)}"${mark}${text}"`;
        copied = at;
      }
    } else {
      at += 1;
    }
  }
  return { marked: copied === 0 ? json : marked + json.slice(copied), growth };
}

/** The index behind the closing quotation mark of the string whose text begins at `start`. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start); end !== -1; end = json.indexOf('"', end + 1)) {
    let text = end;
    while (text > start && json.charCodeAt(text - 1) === backslash) text -= 1;
    if ((end - text) % 2 === 0) return end + 1;
  }
  return json.length;
}

function endOfNumber(json: string, start: number): number {
  for (let end = start + 1; ; end += 1) {
    const code = json.charCodeAt(end);
    if (!isDigit(code) && code !== point && code !== minus && !isExponent(code)) return end;
  }
}

/** Whether the number has at most fifteen digits and no exponent. A double holds it, and it is not written longer. */
function isShort(json: string, start: number, end: number): boolean {
  if (end - start > 15) return false;
  for (let at = start + 1; at < end; at += 1) {
    const code = json.charCodeAt(at);
    if (!isDigit(code) && code !== point) return false;
  }
  return true;
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine;
}

/** `e`, `E` or `+`. */
function isExponent(code: number): boolean {
  return code === 0x65 || code === 0x45 || code === 0x2b;
}

/** Does not recurse, because the nesting of a call may exceed the stack. */
function withoutMarks(root: unknown): unknown {
  if (!isContainer(root)) return numberIn(root) ?? root;
  const left: object[] = [root];
  for (let holder = left.pop(); holder; holder = left.pop()) {
    if (Array.isArray(holder)) {
      const items = holder as unknown[];
      for (let index = 0; index < items.length; index += 1) {
        const value = items[index];
        if (isContainer(value)) left.push(value);
        else items[index] = numberIn(value) ?? value;
      }
    } else {
      const fields = holder as Record<string, unknown>;
      // Objects from JSON have no inherited keys, and `__proto__` only as an own key.
      for (const key in fields) {
        const value = fields[key];
        if (isContainer(value)) left.push(value);
        else fields[key] = numberIn(value) ?? value;
      }
    }
  }
  return root;
}

function numberIn(value: unknown): object | undefined {
  if (typeof value !== 'string' || !value.startsWith(mark)) return undefined;
  return JSON.rawJSON(value.slice(mark.length));
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
