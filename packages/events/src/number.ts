/**
 * Numbers that keep the digits they came with. One that JavaScript would write as it was sent is a `number`. Any other
 * (`1234567890123456789`, `25.0`, `1e400`) is a raw number: an object that holds its text, which `JSON.stringify`
 * writes as it is.
 */

declare global {
  // ECMAScript 2026, "JSON.parse source text access"; TypeScript's libraries do not have it yet.
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

/** Whether JavaScript writes the number with the text it came with. */
export function isPlain(text: string): boolean {
  return String(Number(text)) === text;
}

/** A whole number of another format, such as one of 64 bits, with all its digits. */
export function exactNumber(value: bigint): number | RawNumber {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(value.toString());
}

/** The nearest `number`; `undefined` where `value` is not a number. */
export function roundedNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return isRawNumber(value) ? Number(value.rawJSON) : undefined;
}

/** Of a whole number with a fraction or an exponent, such as `25.0`. */
const maxWrittenLength = 40;

/**
 * The digits of a whole number, for use as an id: `42`, and `1.0` as `1`. `undefined` where the value is no number, or is not
 * whole, or would have to be rounded to be written without an exponent.
 */
export function wholeDigits(value: unknown): string | undefined {
  if (typeof value !== 'number' && !isRawNumber(value)) return undefined;
  const text = typeof value === 'number' ? String(value) : value.rawJSON;
  if (/^-?\d+$/.test(text)) return text === '-0' ? '0' : text;
  // No whole number that a sender writes so is longer, and what follows takes time that grows with the length.
  if (text.length > maxWrittenLength) return undefined;
  const digits = String(Number(text));
  return Number.isSafeInteger(Number(text)) && significance(digits) === significance(text)
    ? digits
    : undefined;
}

/** The same for all ways to write one decimal number: its digits without zeros around them, and their place. */
function significance(number: string): string {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return '0';
  const place = digits.length - fraction.length + Number(exponent);
  return `${digits.replace(/0+$/, '')}e${place}`;
}
