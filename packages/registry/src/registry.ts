/**
 * Values in Confluent's wire format: a zero byte, the id of a schema in four bytes, and the value as that schema
 * says. Schemas come from the registry and are kept, the most recently used of them; a schema never changes under its
 * id. An id that the registry does not know is remembered for a while too.
 *
 * To read a value never waits. Where its schema is not known, the reading says so, and `ask` asks for it.
 */
import { isUtf8 } from 'node:buffer';
import type { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import { TailraceError } from '@tailrace/errors';
import { parseJson } from '@tailrace/events';
import type { Type } from 'avsc';
import type { Type as ProtobufType } from 'protobufjs';
import { createAsking, type AskingLimits } from './asking.ts';
import { readAvro } from './avro.ts';
import { BoundedMap } from './bounded-map.ts';
import { connectRegistry, isUnusable, statusOf } from './client.ts';
import { parseForValidator } from './json-schema.ts';
import { completeSchema, readProtobuf } from './protobuf.ts';

export type FrameReading =
  | { readonly outcome: 'read'; readonly value: unknown }
  | {
      readonly outcome: 'rejected';
      readonly code: 'unsupported-encoding' | 'unknown-schema' | 'schema-mismatch';
      /** What is wrong, and how to fix it. It quotes nothing of the value. */
      readonly message: string;
    }
  | { readonly outcome: 'needs-schema'; readonly schemaId: number };

export interface FrameReader {
  /** Never waits and never throws, whatever the frame holds. */
  read(frame: Buffer): FrameReading;
  /**
   * Asks for a schema. Resolves with true once `read` has an answer for its frames, and with false where the registry
   * failed or takes more than a second: the schema is then asked for again and again, and `onAnswer` says when it is there.
   */
  ask(schemaId: number): Promise<boolean>;
  /** Called with each id that `read` has an answer for from now on. */
  onAnswer(listener: (schemaId: number) => void): void;
}

export interface Registry extends FrameReader {
  /**
   * Rejects where values have been waiting for the registry for more than five seconds.
   *
   * @throws TailraceError `registry-unavailable`
   */
  check(): Promise<void>;
  close(): void;
}

export interface RegistryLog {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

export interface RegistryLimits extends AskingLimits {
  /** Schemas that are kept. */
  readonly schemas: number;
  /** Ids that are remembered as unknown or of no use, and for how long. */
  readonly rejectedIds: number;
  readonly rejectedForMs: number;
}

/** The first byte of a frame; no JSON text begins with it. */
export const magicByte = 0;
const headerBytes = 5;

const unhealthyAfterMs = 5_000;
const defaultLimits: Omit<RegistryLimits, keyof AskingLimits> = {
  schemas: 250,
  rejectedIds: 10_000,
  // An id that the registry does not know may be one that it gives out next.
  rejectedForMs: 30_000,
};

type Rejected = FrameReading & { readonly outcome: 'rejected' };
/** How the values of a schema are read. */
type ReadPayload = (payload: Buffer) => unknown;

export function openRegistry(url: string, log: RegistryLog, options: Partial<RegistryLimits> = {}): Registry {
  const limits = { ...defaultLimits, ...options };
  const { client, address, isRegistry } = connectRegistry(url);
  const schemas = new BoundedMap<number, ReadPayload>(limits.schemas);
  const rejected = new BoundedMap<number, { readonly reading: Rejected; readonly until: number }>(
    limits.rejectedIds,
  );
  const listeners: ((schemaId: number) => void)[] = [];
  let failingSince: number | undefined;
  let failure = '';

  const rejectionOf = (id: number): Rejected | undefined => {
    const found = rejected.get(id);
    if (!found || performance.now() < found.until) return found?.reading;
    rejected.delete(id);
    return undefined;
  };

  /** @throws what the registry, or the way to it, has against it */
  const fetchSchema = async (id: number): Promise<ReadPayload | Rejected> => {
    try {
      return payloadReader(await client.getSchema(id));
    } catch (error) {
      if (statusOf(error) === 404 && (await isRegistry())) {
        return rejection('unknown-schema', `The schema registry has no schema with the id ${id}.`);
      }
      if (!isUnusable(error)) throw error;
      return rejection(
        'schema-mismatch',
        `Schema ${id} of the registry cannot be used: ${sentenceOf(error)}`,
      );
    } finally {
      // The client would keep every schema, and all of them for ever.
      client.cache.clear();
    }
  };

  const request = async (id: number): Promise<void> => {
    try {
      const found = await fetchSchema(id);
      if (typeof found === 'function') schemas.set(id, found);
      else rejected.set(id, { reading: found, until: performance.now() + limits.rejectedForMs });
    } catch (error) {
      failure = (error as Error).message;
      if (failingSince === undefined) {
        const fields = { registry: address, schemaId: id, reason: failure };
        log.warn(fields, 'the schema registry does not give a schema; trying again');
      }
      failingSince ??= performance.now();
      throw error;
    }
    if (failingSince !== undefined) log.info({ registry: address }, 'the schema registry answers again');
    failingSince = undefined;
  };

  const asking = createAsking({
    request,
    onAnswer(id) {
      for (const listener of listeners) listener(id);
    },
    limits,
  });

  return {
    read(frame) {
      if (frame.length < headerBytes) {
        return rejection(
          'schema-mismatch',
          'The value begins as Confluent wire format and ends before its schema id.',
        );
      }
      const schemaId = frame.readInt32BE(1);
      const readPayload = schemas.get(schemaId);
      if (!readPayload) return rejectionOf(schemaId) ?? { outcome: 'needs-schema', schemaId };
      try {
        return { outcome: 'read', value: readPayload(frame.subarray(headerBytes)) };
      } catch (error) {
        const message = `The value is not what schema ${schemaId} of the registry says: ${sentenceOf(error)}`;
        return rejection('schema-mismatch', message);
      }
    },
    ask(schemaId) {
      if (schemas.has(schemaId) || rejectionOf(schemaId)) return Promise.resolve(true);
      return asking.ask(schemaId);
    },
    onAnswer(listener) {
      listeners.push(listener);
    },
    check() {
      if (failingSince === undefined || performance.now() - failingSince < unhealthyAfterMs) {
        return Promise.resolve();
      }
      const message = `Records wait for their schemas: the schema registry at ${address} does not answer (${failure}).`;
      return Promise.reject(new TailraceError('registry-unavailable', message));
    },
    close() {
      asking.close();
    },
  };
}

/** For where there is no registry: a frame is refused. */
export const noRegistry: FrameReader = {
  read: () =>
    rejection(
      'unsupported-encoding',
      'The value is in Confluent wire format, and no schema registry is configured. ' +
        'Set SCHEMA_REGISTRY_URL, or write the call as plain JSON.',
    ),
  ask: () => Promise.resolve(true),
  onAnswer: () => undefined,
};

function payloadReader(schema: Awaited<ReturnType<SchemaRegistry['getSchema']>>): ReadPayload {
  if ('message' in schema) {
    const first = schema.message as ProtobufType;
    completeSchema(first);
    return (payload) => readProtobuf(first, payload);
  }
  if ('validate' in schema) {
    return (payload) => {
      if (!isUtf8(payload)) throw new RangeError('it is not UTF-8');
      const text = payload.toString();
      const paths: string[] = [];
      const errorHook = ([path = '']: string[]): unknown => paths.push(path === '' ? 'the whole' : path);
      // Numbers that keep their text are no numbers to the validator.
      if (schema.isValid(parseForValidator(text) as object, { errorHook })) return parseJson(text);
      throw new RangeError(`it breaks a rule at ${paths.slice(0, 3).join(', ')}`);
    };
  }
  return (payload) => readAvro(schema as unknown as Type, payload);
}

/** What a library says, made fit for a header. */
function sentenceOf(error: unknown): string {
  const [line = ''] = (error as Error).message.split('\n');
  return `${line.slice(0, 200).replace(/\.$/, '')}.`;
}

function rejection(code: Rejected['code'], message: string): Rejected {
  return { outcome: 'rejected', code, message };
}
