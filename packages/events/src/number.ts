/**
 * Numbers without loss. A number that a double holds is a `number`, which JavaScript writes in its own way: `25.0` as `25`.
 * Receivers that verify a signature parse the body and serialise it again, so they must get what `JSON.stringify` writes. Any
 * other number (`1234567890123456789`, `1e400`, twenty decimals) is a raw number: an object with the text, which
 * `JSON.stringify` writes unchanged.
 */

declare global {
  // ECMAScript 2026, "JSON.parse source text access", which TypeScript's libraries do not declare yet.
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): boolean;
  }
}

export interface RawNumber {
  /** The number as JSON. */
  readonly rawJSON: string;
}

export function isRawNumber(value: unknown): value is RawNumber {
  return JSON.isRawJSON(value);
}

/** How many digits of a double are compared. Those that have more are below 1e-20. */
const mostDigits = 100;

/**
 * How JavaScript writes the number; undefined where a double does not hold it. A fraction may have all digits of the double, such
 * as the 55 of 0.1. A whole number keeps its digits: 2^60, 1152921504606846976, would be written as 1152921504606847000, which is
 * another id. `text` is a number of JSON.
 */
export function asJavaScript(text: string): string | undefined {
  const nearest = Number(text);
  const written = String(nearest);
  if (written === text) return written;
  const wanted = significance(text);
  if (significance(written) === wanted) return written;
  // The last digit of such a fraction is 5.
  const mayBeExact = !Number.isInteger(nearest) && wanted.includes('5e');
  return mayBeExact && significance(nearest.toPrecision(mostDigits)) === wanted ? written : undefined;
}

/** A whole number of up to 64 bits or more, with all its digits. */
export function exactNumber(value: bigint): number | RawNumber {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(value.toString());
}

/** The nearest `number`; undefined where `value` is not a number. */
export function roundedNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return isRawNumber(value) ? Number(value.rawJSON) : undefined;
}

/** The digits of a whole number, for use as an id: `42`, and `1` for `1.0`. Undefined for other values, and for `1e21`. */
export function wholeDigits(value: unknown): string | undefined {
  if (typeof value !== 'number' && !isRawNumber(value)) return undefined;
  const text = typeof value === 'number' ? String(value) : value.rawJSON;
  return /^-?\d+$/.test(text) ? text : undefined;
}

/** Equal for all notations of a decimal number: its digits without surrounding zeros, and their exponent, without a sign. */
function significance(number: string): string {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  let [from, to] = [0, digits.length];
  // Not with regular expressions, which take quadratic time for zeros in the middle.
  while (digits[from] === '0') from += 1;
  if (from === to) return '0';
  while (digits[to - 1] === '0') to -= 1;
  return `${digits.slice(from, to)}e${whole.length - from + Number(exponent)}`;
}
