/** JSON as any library may write it, for tests that compare what arrives with what was sent. */
import fc from 'fast-check';

/** Every number of JSON's grammar, up to some length. */
export const numberText = fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,25})?([eE][+-]?\d{1,4})?$/);

/** Numbers that a double holds, in any notation. */
const doubleText = fc.oneof(
  fc.constantFrom('-0', '-0.0', '0e7', '25.0', '1e2', '1.50', '1E+20', '1e21', '1e-7', '5e-324', '1e308'),
  fc.maxSafeInteger().map(String),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .chain((value) => fc.constantFrom(JSON.stringify(value), value.toExponential().toUpperCase())),
  // At most fifteen digits.
  fc
    .tuple(fc.integer(), fc.stringMatching(/^\.\d{1,5}$/), fc.constantFrom('', 'e0', 'E-9', 'e+18'))
    .map((parts) => parts.join('')),
  // All digits of a fraction.
  fc
    .tuple(fc.maxSafeInteger(), fc.integer({ min: 1, max: 60 }))
    .map(([numerator, power]) => numerator / 2 ** power)
    .map((value) => (Number.isInteger(value) ? `${value}.0` : value.toPrecision(100))),
);

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, index) =>
    character.charCodeAt(index).toString(16).padStart(4, '0'),
  )
    .map((hex) => `\\u${hex}`)
    .join('');

const character = fc.oneof(
  fc
    .integer({ min: 0, max: 0x10ffff })
    .map((codePoint) => String.fromCodePoint(codePoint))
    .chain((text) => fc.constantFrom(JSON.stringify(text).slice(1, -1), escaped(text))),
  // Halves of a surrogate pair, and what some libraries escape.
  fc.constantFrom(
    '\\ud800',
    '\\uDBFF',
    '\\udc00',
    '\\uDfFf',
    '\\/',
    '\\u002F',
    '\\u001F',
    '\u2028',
    '\u007f',
  ),
);

/** A string in quotation marks, with characters as they are and as escapes. */
export const stringText = fc
  .array(character, { maxLength: 6 })
  .map((characters) => `"${characters.join('')}"`);

const keyText = fc.oneof(
  stringText,
  // Keys that are whole numbers come first in an object of JavaScript.
  fc.constantFrom('"7"', '"0"', '"10"', '"4294967294"', '"4294967295"', '"-1"', '"07"', '"\\u0031"'),
  fc.constantFrom('"__proto__"', '"\\u005f_proto__"', '"constructor"', '"toJSON"', '"rawJSON"', '"length"'),
  fc.constantFrom('"a"', '"\\u0061"', '"b"'),
);

const space = fc.constantFrom('', '', '', ' ', '\n\t', '\r\n');

/** An object whose numbers JavaScript reads and writes without loss. Keys may come twice. */
export const objectText = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false'),
    doubleText,
    stringText,
    fc
      .array(fc.tuple(space, tie('value')), { maxLength: 4 })
      .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(space, keyText, space, fc.constant(':'), space, tie('value'), space), { maxLength: 6 })
    .map((fields) => `{${fields.map((field) => field.join('')).join(',')}}`),
})).object;
