/**
 * Reads Protobuf with protobufjs, and converts messages by the proto3 JSON mapping: names in lowerCamelCase, bytes in base64,
 * times as ISO 8601, `Struct` as an object. In contrast to that mapping, whole numbers of 64 bits are numbers with all their
 * digits, as in the other formats. Fields that were not written are left out.
 */
import { exactNumber } from '@tailrace/events';
import protobuf from 'protobufjs';
import { finite } from './avro.ts';

/** Files that a schema may import without registering them. */
const commonFiles = ['any', 'duration', 'empty', 'field_mask', 'struct', 'timestamp', 'wrappers'];
const maxDepth = 100;

/**
 * Adds the types that come with Protobuf to a parsed schema.
 *
 * @param first the first message that the schema defines
 */
export function completeSchema(first: protobuf.Type): void {
  const { root } = first;
  for (const file of commonFiles) {
    const { nested } = protobuf.common.get(`google/protobuf/${file}.proto`) ?? {};
    const google: protobuf.INamespace | undefined = nested?.['google'];
    const { nested: defined } = google?.nested?.['protobuf'] as protobuf.INamespace;
    const isKnown = Object.keys(defined ?? {}).some(
      (name) => root.lookup(`google.protobuf.${name}`) !== null,
    );
    if (nested && !isKnown) root.addJSON(nested);
  }
  root.resolveAll();
}

/**
 * @param payload what follows the schema id: the path of message indexes, then the message
 * @throws Error where the bytes do not match the schema
 */
export function readProtobuf(first: protobuf.Type, payload: Buffer): unknown {
  const reader = protobuf.Reader.create(payload);
  const type = messageAt(first, messageIndexes(reader));
  return messageToJson(type.decode(reader), type, 0);
}

/** The path to the message in the schema: a count and that many indexes, zigzag-encoded. The usual [0] is a single 0. */
function messageIndexes(reader: protobuf.Reader): number[] {
  const count = reader.sint32();
  if (count < 0 || count > maxDepth) throw new RangeError('its message indexes are invalid');
  return count === 0 ? [0] : Array.from({ length: count }, () => reader.sint32());
}

function messageAt(first: protobuf.Type, indexes: readonly number[]): protobuf.Type {
  let place: protobuf.NamespaceBase | null = first.parent;
  for (const index of indexes) {
    const messages = place?.nestedArray.filter((nested) => nested instanceof protobuf.Type) ?? [];
    place = messages[index] ?? null;
  }
  if (place instanceof protobuf.Type) return place;
  throw new RangeError('its message indexes name no message of the schema');
}

type Fields = Readonly<Record<string, unknown>>;

function messageToJson(message: unknown, type: protobuf.Type, depth: number): unknown {
  if (depth > maxDepth) throw new RangeError(`it is nested more than ${maxDepth} levels deep`);
  const fields = message as Fields;
  const convert = wellKnown[type.fullName];
  if (convert) return convert(fields, type, depth);
  const entries = type.fieldsArray
    .filter((field) => wasWritten(fields, field))
    .map((field) => [field.name, fieldToJson(fields[field.name], field, depth)]);
  return Object.fromEntries(entries);
}

/** protobufjs creates an empty list or map for fields that were not written. */
function wasWritten(fields: Fields, { name, repeated, map }: protobuf.Field): boolean {
  if (!Object.hasOwn(fields, name)) return false;
  return !(repeated || map) || Object.keys(fields[name] as object).length > 0;
}

function fieldToJson(value: unknown, field: protobuf.Field, depth: number): unknown {
  if (field instanceof protobuf.MapField) {
    const entries = Object.entries(value as Fields).map(([key, item]) => [
      mapKey(key, field.keyType),
      itemToJson(item, field, depth),
    ]);
    return Object.fromEntries(entries);
  }
  return Array.isArray(value)
    ? value.map((item) => itemToJson(item, field, depth))
    : itemToJson(value, field, depth);
}

function itemToJson(value: unknown, { resolvedType }: protobuf.Field, depth: number): unknown {
  if (resolvedType instanceof protobuf.Type) return messageToJson(value, resolvedType, depth + 1);
  if (resolvedType instanceof protobuf.Enum) return resolvedType.valuesById[value as number] ?? value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (isLong(value)) return exactNumber(BigInt(value.toString()));
  return typeof value === 'number' ? finite(value) : value;
}

/** Whether the value is protobufjs's representation of a number of 64 bits. */
function isLong(value: unknown): value is { toString(): string } {
  return typeof value === 'object' && value !== null && 'unsigned' in value;
}

/** protobufjs stores keys of 64 bits as eight characters. */
function mapKey(key: string, keyType: string): string {
  if (!keyType.endsWith('64')) return key;
  return (protobuf.util.longFromHash(key, keyType.startsWith('u')) as { toString(): string }).toString();
}

type Converter = (fields: Fields, type: protobuf.Type, depth: number) => unknown;

const valueOf: Converter = (fields, type, depth) => {
  const [field] = type.fieldsArray;
  return field ? fieldToJson(fields[field.name], field, depth) : undefined;
};

const wellKnown: Readonly<Record<string, Converter | undefined>> = {
  '.google.protobuf.Struct': (fields, type, depth) =>
    Object.hasOwn(fields, 'fields') ? valueOf(fields, type, depth) : {},
  '.google.protobuf.ListValue': (fields, type, depth) =>
    Object.hasOwn(fields, 'values') ? valueOf(fields, type, depth) : [],
  '.google.protobuf.Value': (fields, type, depth) => {
    const set = type.fieldsArray.find(({ name }) => Object.hasOwn(fields, name));
    return set === undefined || set.name === 'nullValue' ? null : fieldToJson(fields[set.name], set, depth);
  },
  '.google.protobuf.Timestamp': ({ seconds = 0, nanos = 0 }) => {
    const whole = new Date(Number(seconds) * 1_000).toISOString().slice(0, -'.000Z'.length);
    return `${whole}.${String(nanos).padStart(9, '0')}Z`;
  },
  ...Object.fromEntries(
    ['Double', 'Float', 'Int64', 'UInt64', 'Int32', 'UInt32', 'Bool', 'String', 'Bytes'].map((name) => [
      `.google.protobuf.${name}Value`,
      valueOf,
    ]),
  ),
};
