/**
 * References to secrets in configuration files. Wherever a secret may stand, `env:NAME` is the value of an environment
 * variable and `file:PATH` the content of a file, without the line breaks at its end. `literal:TEXT` is `TEXT` itself, for a
 * secret that begins with one of these prefixes.
 */
import { isUtf8 } from 'node:buffer';
import { field, items, problem, type FieldPath, type Problem } from '../rules/problem.ts';

/** Where references are looked up. */
export interface ReferenceLookups {
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * The content of a file; relative paths are relative to the file with the reference.
   *
   * @throws an error with a `code` of Node.js, EFBIG if it is too large for a secret
   */
  readonly readFile: (path: string) => Buffer;
}

const prefixes = ['env:', 'file:', 'literal:'];

/** The value that `text` stands for, or why it has none, as a clause. The clause contains no value. */
export function resolveReference(
  text: string,
  { env, readFile }: ReferenceLookups,
): { readonly value: string } | { readonly why: string } {
  const prefix = prefixes.find((one) => text.startsWith(one));
  if (prefix === undefined) return { value: text };
  const rest = text.slice(prefix.length);
  if (prefix === 'literal:') return { value: rest };
  return prefix === 'env:' ? fromVariable(rest, env) : fromFile(rest, readFile);
}

/** `text` as it is written in a configuration file, so that it is not taken for a reference. */
export function escapeReference(text: string): string {
  return prefixes.some((prefix) => text.startsWith(prefix)) ? `literal:${text}` : text;
}

/** A copy of any value that may be a configuration, with its references replaced, and a problem for each that cannot be. */
export function resolveConfiguration(
  configuration: unknown,
  lookups: ReferenceLookups,
): { readonly value: unknown; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const value = mapSecretPlaces(configuration, (text, path) => {
    const resolved = resolveReference(text, lookups);
    if ('value' in resolved) return resolved.value;
    problems.push(problem(path, resolved.why));
    return text;
  });
  return { value, problems };
}

/** As {@link resolveConfiguration}, for one entry; the paths begin at the entry. */
export function resolveEntry(
  kind: 'source' | 'destination' | 'notification',
  entry: unknown,
  lookups: ReferenceLookups,
): { readonly value: unknown; readonly problems: readonly Problem[] } {
  const { value, problems } = resolveConfiguration({ [`${kind}s`]: [entry] }, lookups);
  return {
    value: items(field(value, `${kind}s`))[0],
    problems: problems.map((found) => ({ ...found, path: found.path.slice(2) })),
  };
}

/**
 * The places of a configuration that may have a reference: secrets, what often contains one, and code. `*` is every item of a list
 * or every value of a mapping.
 */
const secretPlaces: readonly FieldPath[] = [
  ['sources', '*', 'writeKeys', '*'],
  ['destinations', '*', 'transform', 'code'],
  ['destinations', '*', 'settings', 'sharedSecret'],
  ['destinations', '*', 'settings', 'previousSharedSecret'],
  ['destinations', '*', 'settings', 'auth', '*'],
  ['destinations', '*', 'settings', 'oauth2', 'tokenUrl'],
  ['destinations', '*', 'settings', 'oauth2', 'clientId'],
  ['destinations', '*', 'settings', 'oauth2', 'clientSecret'],
  ['destinations', '*', 'settings', 'tls', 'ca'],
  ['destinations', '*', 'settings', 'tls', 'clientCertificate'],
  ['destinations', '*', 'settings', 'tls', 'clientKey'],
  ['destinations', '*', 'settings', 'webhooks', '*', 'url'],
  ['destinations', '*', 'settings', 'webhooks', '*', 'headers', '*'],
  ['notifications', '*', 'webhook', 'url'],
  ['notifications', '*', 'webhook', 'routingKey'],
  ['notifications', '*', 'email', 'password'],
];

/** A copy of any value that may be a configuration, in which `change` has replaced each text where a secret may stand. */
export function mapSecretPlaces(
  configuration: unknown,
  change: (text: string, path: FieldPath) => string,
): unknown {
  return secretPlaces.reduce((value, place) => mapPlace(value, place, [], change), configuration);
}

function mapPlace(
  value: unknown,
  [step, ...rest]: FieldPath,
  path: FieldPath,
  change: (text: string, path: FieldPath) => string,
): unknown {
  if (step === undefined) return typeof value === 'string' ? change(value, path) : value;
  if (typeof value !== 'object' || value === null) return value;
  const mapItem = (item: unknown, key: string | number): unknown =>
    step === '*' || step === key ? mapPlace(item, rest, [...path, key], change) : item;
  if (Array.isArray(value)) return value.map(mapItem);
  // Not an assignment each: a name such as __proto__ is a name like any other.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapItem(item, key)]));
}

function fromVariable(name: string, env: ReferenceLookups['env']): { value: string } | { why: string } {
  if (!/^\w+$/.test(name)) {
    // The text may be a secret by mistake, so it is not quoted.
    return { why: 'begins with env: and has no name of an environment variable after it; see literal:' };
  }
  const value = env[name];
  if (value === undefined) return { why: `refers to the environment variable ${name}, which is not set` };
  return value === '' ? { why: `refers to the environment variable ${name}, which is empty` } : { value };
}

function fromFile(path: string, readFile: ReferenceLookups['readFile']): { value: string } | { why: string } {
  if (path === '') return { why: 'begins with file: and has no path after it' };
  const shown = JSON.stringify(path);
  let content: Buffer;
  try {
    content = readFile(path);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    return { why: `refers to the file ${shown}, which ${reasons[code] ?? `cannot be read (${code})`}` };
  }
  if (!isUtf8(content)) return { why: `refers to the file ${shown}, which is not text in UTF-8` };
  const value = content.toString().replace(/(\r?\n)+$/, '');
  return value === '' ? { why: `refers to the file ${shown}, which is empty` } : { value };
}

const reasons: Readonly<Record<string, string | undefined>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
  EISDIR: 'is a folder',
  EFBIG: 'is too large for a secret',
};
