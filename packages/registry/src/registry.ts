/**
 * Values in Confluent's wire format: a zero byte, the id of a schema in four bytes, and the value as that schema
 * says. Schemas come from the registry once each and are kept; a schema never changes under its id.
 *
 * To read a value never waits. Where its schema has yet to be asked for, the reading says so, and `learn` waits for
 * as long as that takes: whoever has other work goes on with it meanwhile.
 */
import { isUtf8 } from 'node:buffer';
import { setTimeout as wait } from 'node:timers/promises';
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { TailraceError } from '@tailrace/errors';
import { parseJson } from '@tailrace/events';
import type { Type } from 'avsc';
import type { Type as ProtobufType } from 'protobufjs';
import { avroOptions, readAvro } from './avro.ts';
import { schemaCompiler } from './json-schema.ts';
import { completeSchema, readProtobuf } from './protobuf.ts';

export type FrameReading =
  | { readonly outcome: 'read'; readonly value: unknown }
  | {
      readonly outcome: 'rejected';
      readonly code: 'unsupported-encoding' | 'unknown-schema' | 'schema-mismatch';
      /** What is wrong, and how to mend it. It quotes nothing of the value. */
      readonly message: string;
    }
  | { readonly outcome: 'needs-schema'; readonly schemaId: number };

export interface FrameReader {
  /** Never waits and never throws, whatever the frame holds. */
  read(frame: Buffer): FrameReading;
  /** Resolves once `read` has an answer for frames of this schema; tries for as long as the registry is away. */
  learn(schemaId: number): Promise<void>;
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

/** The first byte of a frame; no JSON text begins with it. */
export const magicByte = 0;
const headerBytes = 5;

const firstPauseMs = 250;
const longestPauseMs = 10_000;
const requestTimeoutMs = 5_000;
const unhealthyAfterMs = 5_000;
/** An id that the registry does not know may be one that it gives out next. */
const unknownForMs = 1_000;

/** What is known of a schema: how its values are read, or why they cannot be. */
type Known =
  { readonly read: (payload: Buffer) => unknown } | (FrameReading & { readonly outcome: 'rejected' });

export function openRegistry(url: string, log: RegistryLog): Registry {
  const { client, address, isRegistry } = connectRegistry(url);
  const known = new Map<number, { readonly schema: Known; readonly until: number }>();
  const learning = new Map<number, Promise<void>>();
  const closing = new AbortController();
  let failingSince: number | undefined;
  let failure = '';

  const find = (id: number): Known | undefined => {
    const found = known.get(id);
    if (found && performance.now() < found.until) return found.schema;
    known.delete(id);
    return undefined;
  };

  /** @throws what the registry, or the way to it, has against it */
  const ask = async (id: number): Promise<Known> => {
    try {
      return schemaReader(await client.getSchema(id));
    } catch (error) {
      const status = statusOf(error);
      if (status === 404 && (await isRegistry())) {
        return rejection('unknown-schema', `The schema registry has no schema with the id ${id}.`);
      }
      if (status !== undefined || !isUnusable(error)) throw error;
      return rejection(
        'schema-mismatch',
        `Schema ${id} of the registry cannot be used: ${sentenceOf(error)}`,
      );
    }
  };

  const learn = async (id: number): Promise<void> => {
    for (
      let pauseMs = firstPauseMs;
      !closing.signal.aborted;
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    ) {
      try {
        const schema = await ask(id);
        known.set(id, { schema, until: 'read' in schema ? Infinity : performance.now() + unknownForMs });
        if (failingSince !== undefined) log.info({ registry: address }, 'the schema registry answers again');
        failingSince = undefined;
        return;
      } catch (error) {
        failure = (error as Error).message;
        if (failingSince === undefined) {
          log.warn(
            { registry: address, reason: failure },
            'the schema registry does not answer; trying again',
          );
        }
        failingSince ??= performance.now();
      }
      // At random, so that replicas do not come all at once when it is back.
      const pause = pauseMs * (0.75 + Math.random() / 2);
      await wait(pause, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };

  return {
    read(frame) {
      if (frame.length < headerBytes) {
        return rejection(
          'schema-mismatch',
          'The value begins as Confluent wire format and ends before its schema id.',
        );
      }
      const schemaId = frame.readInt32BE(1);
      const schema = find(schemaId);
      if (!schema) return { outcome: 'needs-schema', schemaId };
      if ('outcome' in schema) return schema;
      try {
        return { outcome: 'read', value: schema.read(frame.subarray(headerBytes)) };
      } catch (error) {
        const message = `The value is not what schema ${schemaId} of the registry says: ${sentenceOf(error)}`;
        return rejection('schema-mismatch', message);
      }
    },
    learn(schemaId) {
      if (find(schemaId)) return Promise.resolve();
      const running = learning.get(schemaId) ?? learn(schemaId).finally(() => learning.delete(schemaId));
      learning.set(schemaId, running);
      return running;
    },
    check() {
      if (failingSince === undefined || performance.now() - failingSince < unhealthyAfterMs) {
        return Promise.resolve();
      }
      const message = `Records wait for their schemas: the schema registry at ${address} does not answer (${failure}).`;
      return Promise.reject(new TailraceError('registry-unavailable', message));
    },
    close() {
      closing.abort();
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
  learn: () => Promise.resolve(),
};

/** The client library on a URL that may hold credentials, and the address to be shown without them. */
export function connectRegistry(url: string): {
  readonly client: SchemaRegistry;
  readonly address: string;
  /** Whether it is a registry that answers there, and not just a server that knows no such path. */
  readonly isRegistry: () => Promise<boolean>;
} {
  const { username, password, origin, pathname } = new URL(url);
  const address = `${origin}${pathname.replace(/\/+$/, '')}`;
  const auth = { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  const client = new SchemaRegistry(
    {
      host: address,
      clientId: 'tailrace',
      // Retried here, for as long as it takes.
      retry: { retries: 0 },
      ...(username !== '' && { auth }),
      middlewares: [
        () => ({
          prepareRequest: async (next) => (await next()).enhance({ timeout: requestTimeoutMs }),
        }),
      ],
    },
    { [SchemaType.AVRO]: avroOptions, [SchemaType.JSON]: { ajvInstance: schemaCompiler() } },
  );
  const isRegistry = async (): Promise<boolean> => {
    const headers =
      username === '' ? {} : { authorization: `Basic ${btoa(`${auth.username}:${auth.password}`)}` };
    const response = await fetch(`${address}/subjects`, {
      headers,
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    return response.ok && Array.isArray(await response.json());
  };
  return { client, address, isRegistry };
}

function schemaReader(schema: Awaited<ReturnType<SchemaRegistry['getSchema']>>): Known {
  if ('message' in schema) {
    const first = schema.message as ProtobufType;
    completeSchema(first);
    return { read: (payload) => readProtobuf(first, payload) };
  }
  if ('validate' in schema) {
    return {
      read(payload) {
        if (!isUtf8(payload)) throw new RangeError('it is not UTF-8');
        const text = payload.toString();
        const paths: string[] = [];
        const errorHook = ([path = '']: string[]): unknown => paths.push(path === '' ? 'the whole' : path);
        // Numbers that are kept as text are no numbers to the validator.
        if (schema.isValid(JSON.parse(text) as object, { errorHook })) return parseJson(text);
        throw new RangeError(`it breaks a rule at ${paths.slice(0, 3).join(', ')}`);
      },
    };
  }
  return { read: (payload) => readAvro(schema as unknown as Type, payload) };
}

/** The HTTP status that the client was answered with; undefined where the error is about something else. */
function statusOf(error: unknown): number | undefined {
  const { status } = error as { status?: unknown };
  return typeof status === 'number' ? status : undefined;
}

/** Whether the registry did answer, with a schema that cannot be compiled. */
function isUnusable(error: unknown): boolean {
  return (
    (error as Error).name === 'ConfluentSchemaRegistryArgumentError' ||
    error instanceof SyntaxError ||
    /no such|unresolvable|duplicate|undefined type/.test((error as Error).message)
  );
}

/** What a library says, made fit for a header. */
function sentenceOf(error: unknown): string {
  const [line = ''] = (error as Error).message.split('\n');
  return `${line.slice(0, 200).replace(/\.$/, '')}.`;
}

function rejection(
  code: (FrameReading & { outcome: 'rejected' })['code'],
  message: string,
): FrameReading & { readonly outcome: 'rejected' } {
  return { outcome: 'rejected', code, message };
}
