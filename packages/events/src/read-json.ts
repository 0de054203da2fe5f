/**
 * JSON without a silent change. `JSON.parse` takes 9007199254740993 for 9007199254740992 and 1e400 for Infinity, which
 * then is written as null: a 64-bit id would be another user's. A number that JavaScript cannot hold is kept
 * here as its digits, so that whoever reads the call can refuse it, and set it aside as it was sent.
 */

declare global {
  // ECMAScript 2026, "JSON.parse source text access"; TypeScript's libraries do not have it yet.
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

/**
 * Where a number may be that is beyond 2^53: it has sixteen digits or an exponent. Inside a text this may find what is
 * none, which costs time and changes nothing.
 */
const maybeTooLarge = /[:,[]\s*-?(?:\d{16}|\d[\d.]*[eE])/;

/**
 * As `JSON.parse`, but a number beyond 2^53 that would not be written again with the same value is an object for
 * which {@link isUnkeptNumber} holds, and which `JSON.stringify` writes digit by digit. Numbers below that are
 * rounded to a double as by any reader (RFC 8259, section 6).
 *
 * @throws SyntaxError, and RangeError where such a number stands in a text that is nested thousands of levels deep
 */
export function parseJson(text: string): unknown {
  if (!maybeTooLarge.test(text)) return JSON.parse(text) as unknown;
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) => {
    const source = context?.source;
    return typeof value === 'number' && source !== undefined && isChanged(value, source)
      ? JSON.rawJSON(source)
      : value;
  }) as unknown;
}

/** A whole number of another format, such as one of 64 bits, as {@link parseJson} would have read it. */
export function exactNumber(value: bigint): number | object {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(value.toString());
}

/** Whether `value` stands for a number that cannot be kept; {@link parseJson} and {@link exactNumber} make these. */
export function isUnkeptNumber(value: unknown): boolean {
  return JSON.isRawJSON(value);
}

function isChanged(value: number, source: string): boolean {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return false;
  return !Number.isFinite(value) || significance(String(value)) !== significance(source);
}

/** The same for all ways to write one decimal number: its digits without zeros around them, and their place. */
function significance(number: string): string {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const place = digits.length - fraction.length + Number(exponent);
  return `${digits.replace(/0+$/, '')}e${place}`;
}
