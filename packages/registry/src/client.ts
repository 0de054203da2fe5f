/** The client library on one registry, and what its answers mean. */
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { avroOptions } from './avro.ts';
import { schemaCompiler } from './json-schema.ts';

export interface RegistryConnection {
  readonly client: SchemaRegistry;
  /** The URL without credentials, to be shown. */
  readonly address: string;
  /** Whether it is a registry that answers there, and not just a server that knows no such path. */
  readonly isRegistry: () => Promise<boolean>;
}

const requestTimeoutMs = 5_000;
/** For so long it is believed that a registry answers at the address. */
const believedForMs = 60_000;

export function connectRegistry(url: string): RegistryConnection {
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

  const lookForRegistry = async (): Promise<boolean> => {
    const headers =
      username === '' ? {} : { authorization: `Basic ${btoa(`${auth.username}:${auth.password}`)}` };
    const response = await fetch(`${address}/subjects`, {
      headers,
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    return response.ok && Array.isArray(await response.json());
  };
  let believedUntil = -Infinity;
  let looking: Promise<boolean> | undefined;
  const isRegistry = async (): Promise<boolean> => {
    if (performance.now() < believedUntil) return true;
    looking ??= lookForRegistry().finally(() => {
      looking = undefined;
    });
    const isOne = await looking;
    if (isOne) believedUntil = performance.now() + believedForMs;
    return isOne;
  };
  return { client, address, isRegistry };
}

/** The HTTP status that the client was answered with; undefined where the error is about something else. */
export function statusOf(error: unknown): number | undefined {
  const { status } = error as { status?: unknown };
  return typeof status === 'number' ? status : undefined;
}

/** Whether the registry did answer, with a schema that cannot be compiled. */
export function isUnusable(error: unknown): boolean {
  return (
    statusOf(error) === undefined &&
    ((error as Error).name === 'ConfluentSchemaRegistryArgumentError' ||
      error instanceof SyntaxError ||
      /no such|unresolvable|duplicate|undefined type/.test((error as Error).message))
  );
}
