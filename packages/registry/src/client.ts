/** Connects the client library to one registry, and classifies its errors. */
import { Agent } from 'node:https';
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { avroOptions } from './avro.ts';
import { schemaCompiler } from './json-schema.ts';

export interface RegistrySettings {
  /** Without user name and password. */
  readonly url: string;
  readonly credentials?:
    | { readonly username: string; readonly password: string }
    | { readonly token: string };
  /** Certificate authority in PEM; by default, those of the system. */
  readonly ca?: string;
}

const requestTimeoutMs = 5_000;
/** How long a positive answer to `isRegistry` is cached. */
const cachedForMs = 60_000;

export function connectRegistry({ url: address, credentials, ca }: RegistrySettings) {
  const headers = credentials && { authorization: authorization(credentials) };
  const client = new SchemaRegistry(
    {
      host: address,
      clientId: 'tailrace',
      // fetching.ts retries.
      retry: { retries: 0 },
      ...(ca !== undefined && { agent: new Agent({ ca }) }),
      middlewares: [
        () => ({
          prepareRequest: async (next) =>
            (await next()).enhance({ timeout: requestTimeoutMs, ...(headers && { headers }) }),
        }),
      ],
    },
    { [SchemaType.AVRO]: avroOptions, [SchemaType.JSON]: { ajvInstance: schemaCompiler() } },
  );

  const probe = async (): Promise<boolean> => {
    // The class has no method for this request, which needs the same credentials and authority as the others.
    const { api } = client as unknown as { api: { Subject: { all(): Promise<{ data(): unknown }> } } };
    return Array.isArray((await api.Subject.all()).data());
  };
  let cachedUntil = -Infinity;
  let probing: Promise<boolean> | undefined;
  /** Whether a registry answers at the address, rather than another server that responds with 404. */
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

function authorization(credentials: NonNullable<RegistrySettings['credentials']>): string {
  if ('token' in credentials) return `Bearer ${credentials.token}`;
  const { username, password } = credentials;
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** Why a request failed, as a clause. */
export function reasonOf(error: unknown): string {
  const status = statusOf(error);
  return status === 401 || status === 403
    ? `it refuses the credentials with status ${status}`
    : (error as Error).message.replace(/\.$/, '');
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
