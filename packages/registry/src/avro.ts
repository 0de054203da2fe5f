/**
 * Avro's binary encoding (specification 1.12), read along a schema that avsc has compiled, into what JSON holds.
 *
 * avsc's own reader is not used: it believes every count it meets, so a frame of ten bytes, cut off or meant for
 * another schema, could keep the process busy for ever; and it has no word for whole numbers beyond 2^53.
 */
import { isUtf8 } from 'node:buffer';
import { exactNumber } from '@tailrace/events';
import avsc, { type Schema, type Type } from 'avsc';

interface Annotation {
  readonly logicalType: string;
  readonly scale?: number;
}

/** What avsc drops of a schema unless it is told to make a type of its own of it. */
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

/** For `Type.forSchema`, so that {@link readAvro} sees logical types. */
export const avroOptions = {
  logicalTypes: Object.fromEntries(logicalTypes.map((name) => [name, Annotated])),
};

/** A schema as avsc has compiled it, as far as reading needs it. */
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

/** @throws RangeError where the bytes are not what the schema says */
export function readAvro(type: Type, bytes: Buffer): unknown {
  const input = new Input(bytes);
  const value = read(type as unknown as AvroType, input, 0);
  if (input.left > 0) throw new RangeError(`${input.left} bytes are left over`);
  return value;
}

function read(type: AvroType, input: Input, depth: number): unknown {
  if (depth > maxDepth) throw new RangeError(`it is nested more than ${maxDepth} levels deep`);
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
      return finite(input.take(4).readFloatLE());
    case 'double':
      return finite(input.take(8).readDoubleLE());
    case 'bytes':
      return input.take(input.size()).toString('base64');
    case 'string':
      return text(input.take(input.size()));
    case 'fixed':
      return input.take(type.size).toString('base64');
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
          text(input.take(input.size())),
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

/** A turn for each item. Nothing is believed that the bytes which are left cannot hold. */
function* blocks(input: Input): Generator<undefined> {
  for (;;) {
    let count = input.long();
    if (count === 0n) return;
    if (count < 0n) {
      count = -count;
      input.size();
    }
    if (count > input.left) throw new RangeError('it says to hold more items than it has bytes');
    for (; count > 0n; count -= 1n) yield undefined;
  }
}

/** Times become ISO 8601 and decimals their digits, because a bare number would not say its unit. */
function readLogical({ annotation, underlyingType }: LogicalType, input: Input, depth: number): unknown {
  const { logicalType, scale = 0 } = annotation;
  if (logicalType === 'decimal') {
    const size = underlyingType.typeName === 'fixed' ? underlyingType.size : input.size();
    return decimal(input.take(size), scale);
  }
  if (logicalType === 'date') return isoTime(input.long() * 86_400_000n, 3).slice(0, -'T00:00:00.000'.length);
  const digits = { millis: 3, micros: 6, nanos: 9 }[logicalType.split('-').at(-1) ?? ''];
  if (digits === undefined) return read(underlyingType, input, depth);
  return isoTime(input.long(), digits) + (logicalType.startsWith('local') ? '' : 'Z');
}

/** @param digits of the fraction of a second that the count is in */
function isoTime(count: bigint, digits: number): string {
  const unit = 10n ** BigInt(digits);
  const fraction = ((count % unit) + unit) % unit;
  const time = new Date(Number((count - fraction) / unit) * 1_000);
  if (Number.isNaN(time.getTime())) throw new RangeError('a time is out of range');
  return `${time.toISOString().slice(0, -'.000Z'.length)}.${fraction.toString().padStart(digits, '0')}`;
}

/** Two's complement, the highest byte first. */
function decimal(bytes: Buffer, scale: number): string {
  const unsigned = BigInt(`0x0${bytes.toString('hex')}`);
  const unscaled = BigInt.asIntN(Math.max(bytes.length * 8, 1), unsigned);
  if (scale === 0) return unscaled.toString();
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** JSON has no word for the others, and would write null. */
export function finite(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

function text(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new RangeError('a string is not UTF-8');
  return bytes.toString();
}

function oneOf<T>(choices: readonly T[], input: Input): T {
  const choice = choices[Number(input.long())];
  if (choice === undefined) throw new RangeError('it chooses what its schema does not offer');
  return choice;
}

class Input {
  readonly #bytes: Buffer;
  #position = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#position;
  }

  take(count: number): Buffer {
    if (count > this.left) throw new RangeError('it ends too early');
    this.#position += count;
    return this.#bytes.subarray(this.#position - count, this.#position);
  }

  boolean(): boolean {
    const byte = this.take(1)[0] ?? 0;
    if (byte > 1) throw new RangeError('a boolean is neither 0 nor 1');
    return byte === 1;
  }

  /** Zigzag, seven bits a byte, the lowest first. */
  long(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.take(1)[0] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
    }
    throw new RangeError('a number is longer than 64 bits');
  }

  /** Of something that follows. */
  size(): number {
    const size = this.long();
    if (size < 0n) throw new RangeError('a length is negative');
    return Number(size);
  }
}
