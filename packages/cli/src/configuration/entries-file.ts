/** Entries of the API as a file for `tailrace apply`, with references in place of the secrets that the API does not show. */
import {
  builtInSource,
  escapeReference,
  isMasked,
  mapSecretPlaces,
  type Destination,
  type FieldPath,
  type Notification,
  type Source,
} from '@tailrace/config';
import { yamlLines } from '../terminal/yaml.ts';

export interface Entries {
  readonly sources?: readonly Source[];
  readonly destinations?: readonly Destination[];
  readonly notifications?: readonly Notification[];
}

/** The lines of the file. Its comment names the variables that must be set before it is applied. */
export function fileOf(entries: Entries, comment: readonly string[] = []): string[] {
  const names = new Set<string>();
  const { sources, destinations } = entries;
  const own: Entries = {
    ...entries,
    // The built-in source exists everywhere, and a file may not contain it.
    ...(sources && { sources: sources.filter(({ id }) => id !== builtInSource.id) }),
    ...(destinations && { destinations: destinations.map(withoutSigningKeys) }),
  };
  const file = mapSecretPlaces(own, (text, path) => {
    if (!isMasked(text, path)) return escapeReference(text);
    const name = uniqueName(variableOf(own, path), names);
    names.add(name);
    return `env:${name}`;
  });
  const secrets =
    names.size === 0
      ? []
      : [
          'Secrets are not shown. Set these variables to them before you apply the file:',
          ...[...names].map((name) => `  ${name}`),
        ];
  return yamlLines(file, [...comment, ...secrets]);
}

/** `apply` keeps the stored keys, or makes new ones. Nobody could set a variable to them. */
function withoutSigningKeys(destination: Destination): Destination {
  const { settings } = destination;
  return settings.ed25519 ? { ...destination, settings: { ...settings, ed25519: {} } } : destination;
}

/** The id of the entry and the field: `CRM_SHARED_SECRET`, `CRM_WEBHOOKS_1_HEADERS_AUTHORIZATION`. */
function variableOf(entries: Entries, [list, index, ...field]: FieldPath): string {
  const id = entries[list as keyof Entries]?.[Number(index)]?.id ?? '';
  const words = field
    .filter((step) => step !== 'settings' && step !== 'tls')
    .map((step) => (typeof step === 'number' ? String(step + 1) : step.replace(/([a-z])([A-Z])/g, '$1_$2')));
  const name = [id, ...words].join('_').replace(/\W/g, '_').toUpperCase();
  return /^\d/.test(name) ? `_${name}` : name;
}

function uniqueName(name: string, taken: ReadonlySet<string>): string {
  let unique = name;
  for (let count = 2; taken.has(unique); count++) unique = `${name}_${count}`;
  return unique;
}
