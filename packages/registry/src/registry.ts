/**
 * Reads values in Confluent wire format ("frames"): a zero byte, the id of a schema in four bytes, and the encoded value. The
 * most recently used schemas are cached without an expiry, because a schema never changes under its id. Ids that the registry
 * does not know are cached for a limited time.
 *
 * Reading never waits. Where the schema is not cached, the result is `needs-schema`, and `fetchSchema` requests it.
 */
import { isUtf8 } from 'node:buffer';
import type { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import { TailraceError } from '@tailrace/errors';
import { parseJson } from '@tailrace/events';
import type { Type } from 'avsc';
import { LRUCache } from 'lru-cache';
import type { Type as ProtobufType } from 'protobufjs';
import { readAvro } from './avro.ts';
import { connectRegistry, isUnusable, reasonOf, statusOf, type RegistrySettings } from './client.ts';
import { createFetcher, type FetchLimits } from './fetching.ts';
import { parseForValidator } from './json-schema.ts';
import { completeSchema, readProtobuf } from './protobuf.ts';

export type FrameReading =
  | { readonly outcome: 'read'; readonly value: unknown }
  | {
      readonly outcome: 'rejected';
      readonly code: 'unsupported-encoding' | 'unknown-schema' | 'schema-mismatch';
      /** The problem and how to fix it, without content of the value. */
      readonly message: string;
    }
  | { readonly outcome: 'needs-schema'; readonly schemaId: number };

export interface FrameReader {
  /** Never waits and never throws. */
  read(frame: Buffer): FrameReading;
  /**
   * Requests a schema. Resolves with true once `read` has a result for its frames, and with false where the registry failed or
   * takes more than a second. The schema is then requested until the registry answers, and `onFetched` reports it.
   */
  fetchSchema(schemaId: number): Promise<boolean>;
  /** Calls `listener` with the id of each schema that the registry has answered for, known or unknown. */
  onFetched(listener: (schemaId: number) => void): void;
}

export interface Registry extends FrameReader {
  /**
   * Health check: rejects where requests have been failing for more than five seconds.
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

export interface RegistryLimits extends FetchLimits {
  /** Cached schemas. */
  readonly schemas: number;
  /** Cached ids that are unknown or whose schemas cannot be used. */
  readonly rejectedIds: number;
  readonly rejectedForMs: number;
}

/** The first byte of a frame. No JSON text begins with it. */
export const magicByte = 0;
const headerBytes = 5;

const unhealthyAfterMs = 5_000;
const defaultLimits: Omit<RegistryLimits, keyof FetchLimits> = {
  schemas: 250,
  rejectedIds: 10_000,
  // The registry may assign an unknown id to the next schema that is registered.
  rejectedForMs: 30_000,
};

type Rejected = FrameReading & { readonly outcome: 'rejected' };
/** Reads an encoded value by one schema. */
type ReadPayload = (payload: Buffer) => unknown;

export function openRegistry(
  settings: RegistrySettings,
  log: RegistryLog,
  options: Partial<RegistryLimits> = {},
): Registry {
  const limits = { ...defaultLimits, ...options };
  const { client, address, isRegistry } = connectRegistry(settings);
  const schemas = new LRUCache<number, ReadPayload>({ max: limits.schemas });
  const rejected = new LRUCache<number, { readonly reading: Rejected; readonly until: number }>({
    max: limits.rejectedIds,
  });
  const listeners: ((schemaId: number) => void)[] = [];
  let failingSince: number | undefined;
  let lastFailure = '';

  const rejectionOf = (id: number): Rejected | undefined => {
    const found = rejected.get(id);
    if (!found || performance.now() < found.until) return found?.reading;
    rejected.delete(id);
    return undefined;
  };

  /** @throws errors of the connection and failures of the registry; these are retried */
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
        `Schema ${id} of the registry cannot be used: ${firstLineOf(error)}`,
      );
    } finally {
      // The cache of the client has no limit.
      client.cache.clear();
    }
  };

  const request = async (id: number): Promise<void> => {
    try {
      const found = await fetchSchema(id);
      if (typeof found === 'function') schemas.set(id, found);
      else rejected.set(id, { reading: found, until: performance.now() + limits.rejectedForMs });
    } catch (error) {
      lastFailure = reasonOf(error);
      if (failingSince === undefined) {
        const fields = { registry: address, schemaId: id, reason: lastFailure };
        log.warn(fields, 'schema registry request failed, retrying');
      }
      failingSince ??= performance.now();
      throw error;
    }
    if (failingSince !== undefined) log.info({ registry: address }, 'schema registry recovered');
    failingSince = undefined;
  };

  const fetcher = createFetcher({
    request,
    onFetched(id) {
      for (const listener of listeners) listener(id);
    },
    limits,
  });

  return {
    read(frame) {
      if (frame.length < headerBytes) {
        return rejection(
          'schema-mismatch',
          'The value begins like Confluent wire format, but ends before its schema id.',
        );
      }
      const schemaId = frame.readInt32BE(1);
      const readPayload = schemas.get(schemaId);
      if (!readPayload) return rejectionOf(schemaId) ?? { outcome: 'needs-schema', schemaId };
      try {
        return { outcome: 'read', value: readPayload(frame.subarray(headerBytes)) };
      } catch (error) {
        const message = `The value does not match schema ${schemaId} of the registry: ${firstLineOf(error)}`;
        return rejection('schema-mismatch', message);
      }
    },
    fetchSchema(schemaId) {
      if (schemas.has(schemaId) || rejectionOf(schemaId)) return Promise.resolve(true);
      return fetcher.fetch(schemaId);
    },
    onFetched(listener) {
      listeners.push(listener);
    },
    check() {
      if (failingSince === undefined || performance.now() - failingSince < unhealthyAfterMs) {
        return Promise.resolve();
      }
      const message = `The schema registry at ${address} cannot be used (${lastFailure}), and records wait for their schemas.`;
      return Promise.reject(new TailraceError('registry-unavailable', message));
    },
    close() {
      fetcher.close();
    },
  };
}

/** Without a registry, every frame is rejected. */
export const noRegistry: FrameReader = {
  read: () =>
    rejection(
      'unsupported-encoding',
      'The value is in Confluent wire format, but no schema registry is configured. ' +
        'Set SCHEMA_REGISTRY_URL, or write the call as plain JSON.',
    ),
  fetchSchema: () => Promise.resolve(true),
  onFetched: () => undefined,
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
      const errorHook = ([path = '']: string[]): unknown => paths.push(path === '' ? 'the root' : path);
      // The validator does not recognise numbers that keep their text.
      if (schema.isValid(parseForValidator(text) as object, { errorHook })) return parseJson(text);
      throw new RangeError(`it is invalid at ${paths.slice(0, 3).join(', ')}`);
    };
  }
  return (payload) => readAvro(schema as unknown as Type, payload);
}

/** The message of a library, short enough for a header. */
function firstLineOf(error: unknown): string {
  const [line = ''] = (error as Error).message.split('\n');
  return `${line.slice(0, 200).replace(/\.$/, '')}.`;
}

function rejection(code: Rejected['code'], message: string): Rejected {
  return { outcome: 'rejected', code, message };
}
