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

/** Digits of a double that are compared. A double with more is written with at most 17. */
const mostDigits = 100;

/**
 * Whether a double holds the number without loss: it is the shortest notation of a double, or the double itself, in any
 * notation. `text` is a number of JSON.
 */
export function fitsDouble(text: string): boolean {
  const nearest = Number(text);
  if (String(nearest) === text) return true;
  if (!Number.isFinite(nearest)) return false;
  const wanted = significance(text);
  return (
    significance(String(nearest)) === wanted ||
    (wanted.length <= 2 * mostDigits && significance(nearest.toPrecision(mostDigits)) === wanted)
  );
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

/** The maximum length of a whole number with a fraction or an exponent, such as `25.0`. */
const maxWrittenLength = 40;

/**
 * The digits of a whole number, for use as an id: `42`, and `1` for `1.0`. Undefined where the value is not a whole number, or
 * where it would have to be rounded to be written without an exponent.
 */
export function wholeDigits(value: unknown): string | undefined {
  if (typeof value !== 'number' && !isRawNumber(value)) return undefined;
  const text = typeof value === 'number' ? String(value) : value.rawJSON;
  if (/^-?\d+$/.test(text)) return text === '-0' ? '0' : text;
  // Whole numbers are not written at such a length, and the comparison below takes time proportional to it.
  if (text.length > maxWrittenLength) return undefined;
  const digits = String(Number(text));
  return Number.isSafeInteger(Number(text)) && significance(digits) === significance(text)
    ? digits
    : undefined;
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
