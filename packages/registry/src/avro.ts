/**
 * Reads Avro's binary encoding (Avro specification 1.12) into JSON values, by a schema that avsc has compiled.
 *
 * The reader of avsc is not used. It does not check counts against the length of the frame, so ten bytes that are truncated or
 * belong to another schema could block the process; and it cannot represent whole numbers beyond 2^53.
 */
import { isUtf8 } from 'node:buffer';
import { exactNumber } from '@tailrace/events';
import avsc, { type Schema, type Type } from 'avsc';

interface Annotation {
  readonly logicalType: string;
  readonly scale?: number;
}

/** Keeps the annotation of a logical type, which avsc drops for types that are not registered. */
class Annotated extends avsc.types.LogicalType {
  readonly annotation: Annotation;

  constructor(schema: Schema, options?: unknown) {
    super(schema, options);
    this.annotation = schema as Annotation & Schema;
  }
}

const logicalTypes = [
  'decimal',
  'date',
  'timestamp-millis',
  'timestamp-micros',
  'timestamp-nanos',
  'local-timestamp-millis',
  'local-timestamp-micros',
  'local-timestamp-nanos',
];

/** For `Type.forSchema`, so that the compiled schema has the logical types for {@link readAvro}. */
export const avroOptions = {
  logicalTypes: Object.fromEntries(logicalTypes.map((name) => [name, Annotated])),
};

/** The parts of a compiled schema that reading needs. */
type AvroType =
  | { readonly typeName: 'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' | 'string' }
  | { readonly typeName: 'fixed'; readonly size: number }
  | { readonly typeName: 'enum'; readonly symbols: readonly string[] }
  | {
      readonly typeName: 'record' | 'error';
      readonly fields: readonly { readonly name: string; readonly type: AvroType }[];
    }
  | { readonly typeName: 'array'; readonly itemsType: AvroType }
  | { readonly typeName: 'map'; readonly valuesType: AvroType }
  | { readonly typeName: 'union:wrapped' | 'union:unwrapped'; readonly types: readonly AvroType[] }
  | LogicalType;

interface LogicalType {
  readonly typeName: `logical:${string}`;
  readonly annotation: Annotation;
  readonly underlyingType: AvroType;
}

const maxDepth = 100;
/** A value of a schema may have no bytes, such as null, so that those of 68 KB could be more than fit into memory. */
const maxValues = { ofAll: 1_000, ofEachByte: 8 };

/** @throws RangeError where the bytes do not match the schema */
export function readAvro(type: Type, bytes: Buffer): unknown {
  const input = new Input(bytes);
  const value = read(type as unknown as AvroType, input, 0);
  if (input.left > 0) throw new RangeError(`${input.left} bytes are left over`);
  return value;
}

function read(type: AvroType, input: Input, depth: number): unknown {
  if (depth > maxDepth) throw new RangeError(`it is nested more than ${maxDepth} levels deep`);
  input.countValue();
  switch (type.typeName) {
    case 'null':
      return null;
    case 'boolean':
      return input.boolean();
    case 'int':
      return Number(input.long());
    case 'long':
      return exactNumber(input.long());
    case 'float':
      return finite(input.read(4).readFloatLE());
    case 'double':
      return finite(input.read(8).readDoubleLE());
    case 'bytes':
      return input.read(input.size()).toString('base64');
    case 'string':
      return text(input.read(input.size()));
    case 'fixed':
      return input.read(type.size).toString('base64');
    case 'enum':
      return oneOf(type.symbols, input);
    case 'record':
    case 'error':
      return Object.fromEntries(type.fields.map((field) => [field.name, read(field.type, input, depth + 1)]));
    case 'array':
      return Array.from(blocks(input), () => read(type.itemsType, input, depth + 1));
    case 'map':
      return Object.fromEntries(
        Array.from(blocks(input), () => [
          text(input.read(input.size())),
          read(type.valuesType, input, depth + 1),
        ]),
      );
    case 'union:wrapped':
    case 'union:unwrapped':
      return read(oneOf(type.types, input), input, depth + 1);
    default:
      return readLogical(type, input, depth);
  }
}

/** Yields once for each item. A count that the remaining bytes cannot hold is refused. */
function* blocks(input: Input): Generator<undefined> {
  for (;;) {
    let count = input.long();
    if (count === 0n) return;
    if (count < 0n) {
      count = -count;
      input.size();
    }
    if (count > input.left) throw new RangeError('it declares more items than it has bytes');
    for (; count > 0n; count -= 1n) yield undefined;
  }
}

/** Times become ISO 8601, and decimals their digits, because a bare number would not show its unit. */
function readLogical({ annotation, underlyingType }: LogicalType, input: Input, depth: number): unknown {
  const { logicalType, scale = 0 } = annotation;
  if (logicalType === 'decimal') {
    const size = underlyingType.typeName === 'fixed' ? underlyingType.size : input.size();
    return decimal(input.read(size), scale);
  }
  if (logicalType === 'date') return isoTime(input.long() * 86_400_000n, 3).slice(0, -'T00:00:00.000'.length);
  const digits = { millis: 3, micros: 6, nanos: 9 }[logicalType.split('-').at(-1) ?? ''];
  if (digits === undefined) return read(underlyingType, input, depth);
  return isoTime(input.long(), digits) + (logicalType.startsWith('local') ? '' : 'Z');
}

/** @param digits how many digits of the fraction of a second the count includes */
function isoTime(count: bigint, digits: number): string {
  const unit = 10n ** BigInt(digits);
  const fraction = ((count % unit) + unit) % unit;
  const time = new Date(Number((count - fraction) / unit) * 1_000);
  if (Number.isNaN(time.getTime())) throw new RangeError('a time is out of range');
  return `${time.toISOString().slice(0, -'.000Z'.length)}.${fraction.toString().padStart(digits, '0')}`;
}

/** Two's complement, big-endian. */
function decimal(bytes: Buffer, scale: number): string {
  const unsigned = BigInt(`0x0${bytes.toString('hex')}`);
  const unscaled = BigInt.asIntN(Math.max(bytes.length * 8, 1), unsigned);
  if (scale === 0) return unscaled.toString();
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** NaN and Infinity become strings: `JSON.stringify` would write null. */
export function finite(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

function text(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new RangeError('a string is not UTF-8');
  return bytes.toString();
}

function oneOf<T>(choices: readonly T[], input: Input): T {
  const choice = choices[Number(input.long())];
  if (choice === undefined) throw new RangeError('an index is beyond the choices of the schema');
  return choice;
}

class Input {
  readonly #bytes: Buffer;
  #position = 0;
  #valuesLeft: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#valuesLeft = maxValues.ofAll + maxValues.ofEachByte * bytes.length;
  }

  countValue(): void {
    this.#valuesLeft -= 1;
    if (this.#valuesLeft < 0) throw new RangeError('it has more values than its bytes can mean');
  }

  get left(): number {
    return this.#bytes.length - this.#position;
  }

  read(count: number): Buffer {
    if (count > this.left) throw new RangeError('it ends too early');
    this.#position += count;
    return this.#bytes.subarray(this.#position - count, this.#position);
  }

  boolean(): boolean {
    const byte = this.read(1)[0] ?? 0;
    if (byte > 1) throw new RangeError('a boolean is neither 0 nor 1');
    return byte === 1;
  }

  /** A zigzag-encoded varint: seven bits per byte, the lowest first. */
  long(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.read(1)[0] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
    }
    throw new RangeError('a number is longer than 64 bits');
  }

  /** The length of the bytes that follow. */
  size(): number {
    const size = this.long();
    if (size < 0n) throw new RangeError('a length is negative');
    return Number(size);
  }
}
