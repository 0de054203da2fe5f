/** Connects the client library to one registry, and classifies its errors. */
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { avroOptions } from './avro.ts';
import { schemaCompiler } from './json-schema.ts';

export interface RegistryConnection {
  readonly client: SchemaRegistry;
  /** The URL without credentials, for messages. */
  readonly address: string;
  /** Whether a registry answers at the address, rather than another server that responds with 404. */
  readonly isRegistry: () => Promise<boolean>;
}

const requestTimeoutMs = 5_000;
/** How long a positive answer to `isRegistry` is cached. */
const cachedForMs = 60_000;

export function connectRegistry(url: string): RegistryConnection {
  const { username, password, origin, pathname } = new URL(url);
  const address = `${origin}${pathname.replace(/\/+$/, '')}`;
  const auth = { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  const client = new SchemaRegistry(
    {
      host: address,
      clientId: 'tailrace',
      // fetching.ts retries.
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

  const probe = async (): Promise<boolean> => {
    const headers =
      username === '' ? {} : { authorization: `Basic ${btoa(`${auth.username}:${auth.password}`)}` };
    const response = await fetch(`${address}/subjects`, {
      headers,
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    return response.ok && Array.isArray(await response.json());
  };
  let cachedUntil = -Infinity;
  let probing: Promise<boolean> | undefined;
  const isRegistry = async (): Promise<boolean> => {
    if (performance.now() < cachedUntil) return true;
    probing ??= probe().finally(() => {
      probing = undefined;
    });
    const isFound = await probing;
    if (isFound) cachedUntil = performance.now() + cachedForMs;
    return isFound;
  };
  return { client, address, isRegistry };
}

/** The HTTP status of the response; undefined where the error has none. */
export function statusOf(error: unknown): number | undefined {
  const { status } = error as { status?: unknown };
  return typeof status === 'number' ? status : undefined;
}

/** Whether the registry answered with a schema that cannot be compiled. */
export function isUnusable(error: unknown): boolean {
  return (
    statusOf(error) === undefined &&
    ((error as Error).name === 'ConfluentSchemaRegistryArgumentError' ||
      error instanceof SyntaxError ||
      /no such|unresolvable|duplicate|undefined type/.test((error as Error).message))
  );
}
