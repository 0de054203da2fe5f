/** Registers a JSON Schema as a subject of the registry, where producers look for it. */
import { COMPATIBILITY, SchemaType } from '@kafkajs/confluent-schema-registry';
import { TailraceError } from '@tailrace/errors';
import { connectRegistry, reasonOf, type RegistrySettings } from './client.ts';

export interface SubjectReport {
  readonly subject: string;
  readonly outcome: 'registered' | 'exists';
  readonly schemaId: number;
}

/**
 * Registers `schema` as the latest version of `subject`, unless it already is. A new subject gets the compatibility BACKWARD:
 * readers with the new schema can read values that were written with the one before.
 *
 * @throws TailraceError `registry-unavailable`, `incompatible-schema`
 */
export async function registerSubject(
  settings: RegistrySettings,
  subject: string,
  schema: object,
): Promise<SubjectReport> {
  const { client, address } = connectRegistry(settings);
  const definition = { type: SchemaType.JSON, schema: JSON.stringify(schema) } as const;
  const before = await client.getLatestSchemaId(subject).catch((error: unknown) => {
    if ((error as { status?: unknown }).status === 404) return undefined;
    throw unavailable(address, error);
  });
  try {
    const { id } = await client.register(definition, { subject, compatibility: COMPATIBILITY.BACKWARD });
    return { subject, outcome: id === before ? 'exists' : 'registered', schemaId: id };
  } catch (error) {
    const { status, name, message } = error as Error & { status?: unknown };
    if (status !== 409 && name !== 'ConfluentSchemaRegistryCompatibilityError')
      throw unavailable(address, error);
    throw new TailraceError(
      'incompatible-schema',
      `The registry at ${address} refuses the schema as the next version of ${subject}: ${message}`,
    );
  }
}

function unavailable(address: string, error: unknown): TailraceError {
  return new TailraceError(
    'registry-unavailable',
    `The schema registry at ${address} cannot be used: ${reasonOf(error)}. Check SCHEMA_REGISTRY_URL and its credentials, and that the registry is running.`,
  );
}
