/**
 * Checks sources and destinations from anywhere (a file, an API, the topic) and names all that is wrong with
 * them at once. Messages never repeat a write key, a secret, a key, a header's value or a URL: they end up in logs.
 */
import { nearestName } from '@tailrace/errors';
import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from 'ajv';
import { destinationProblems } from './destination-rules.ts';
import {
  field,
  formatPath,
  items,
  problem,
  quote,
  repeats,
  type FieldPath,
  type Problem,
} from './problem.ts';
import {
  configurationSchema,
  destinationSchema,
  sourceSchema,
  type Configuration,
  type Destination,
  type Source,
} from './schema.ts';
import { refuseCertificates, refusePrivateKey } from './tls-rules.ts';
import { refuseHeaderName, refuseHeaderValue, refuseWebhookUrl } from './webhook-rules.ts';

export type Checked<T> = { readonly value: T } | { readonly problems: readonly Problem[] };

/** Each says why a text is refused, or gives undefined. */
const formats = {
  'webhook-url': refuseWebhookUrl,
  'header-name': refuseHeaderName,
  'header-value': refuseHeaderValue,
  certificates: refuseCertificates,
  'private-key': refusePrivateKey,
} as const;

/** What the messages take from a schema. */
interface DescribedSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, DescribedSchema>>;
}

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  useDefaults: true,
  formats: Object.fromEntries(
    Object.entries(formats).map(([name, refuse]) => [name, (text: string) => refuse(text) === undefined]),
  ),
});
/** Compiled when it is first needed: a command that checks nothing starts without. */
function validatorOf(schema: AnySchema): () => ValidateFunction {
  let validator: ValidateFunction | undefined;
  return () => (validator ??= ajv.compile(schema));
}

const configurationValidator = validatorOf(configurationSchema);
const sourceValidator = validatorOf(sourceSchema);
const destinationValidator = validatorOf(destinationSchema);

/**
 * `value` with its defaults, or every problem. Whether a destination's sources exist is not looked at here,
 * since they may be elsewhere: see {@link missingSources}.
 */
export function checkConfiguration(value: unknown): Checked<Configuration> {
  return check<Configuration>(configurationValidator(), value, (copy) => {
    const sources = items(field(copy, 'sources'));
    const destinations = items(field(copy, 'destinations'));
    return [
      ...repeatedIds('sources', sources),
      ...repeatedWriteKeys(sources),
      ...repeatedIds('destinations', destinations),
      ...destinations.flatMap((entry, index) => destinationProblems(entry, ['destinations', index])),
    ];
  });
}

export interface CheckOptions {
  /** Lets keys through that this version does not know. Default false. */
  readonly allowUnknownKeys?: boolean;
}

export function checkSource(value: unknown, options?: CheckOptions): Checked<Source> {
  return check<Source>(sourceValidator(), value, () => [], options);
}

export function checkDestination(value: unknown, options?: CheckOptions): Checked<Destination> {
  return check<Destination>(destinationValidator(), value, (copy) => destinationProblems(copy, []), options);
}

/** A problem for each source that a destination names and that is not among `sourceIds`. */
export function missingSources(
  destinations: readonly Destination[],
  sourceIds: readonly string[],
): Problem[] {
  const existing = new Set(sourceIds);
  return destinations.flatMap(({ sources }, index) =>
    sources.flatMap((sourceId, position) => {
      if (existing.has(sourceId)) return [];
      const meant = nearestName(sourceId, sourceIds);
      const hint = meant === undefined ? '' : `; is ${quote(meant)} meant?`;
      const message = `there is no source ${quote(sourceId)}${hint}`;
      return [problem(['destinations', index, 'sources', position], message)];
    }),
  );
}

function check<T>(
  validate: ValidateFunction,
  value: unknown,
  checkBeyondSchema: (copy: unknown) => Problem[],
  { allowUnknownKeys = false }: CheckOptions = {},
): Checked<T> {
  // Defaults are written into what is validated, and that is not ours to change.
  const copy = structuredClone(value);
  const broken = validate(copy) ? [] : (validate.errors ?? []);
  const problems = [
    ...broken.flatMap((error) => problemOf(error, pathOf(copy, error.instancePath))),
    ...checkBeyondSchema(copy),
  ].filter(({ about }) => !(allowUnknownKeys && about === 'unknown-key'));
  return problems.length === 0 ? { value: copy as T } : { problems };
}

function problemOf(error: ErrorObject, path: FieldPath): Problem[] {
  const schema = error.parentSchema as DescribedSchema;
  const { description: allowed = '' } = schema;
  const { additionalProperty = '', missingProperty = '' } = error.params as Readonly<Record<string, string>>;
  switch (error.keyword) {
    case 'propertyNames':
      // The name's own error is in the list too.
      return [];
    case 'additionalProperties': {
      return [
        unknownKey([...path, additionalProperty], additionalProperty, Object.keys(schema.properties ?? {})),
      ];
    }
    case 'required': {
      return [
        problem(
          [...path, missingProperty],
          `is missing; it is ${schema.properties?.[missingProperty]?.description ?? ''}`,
        ),
      ];
    }
    case 'type': {
      const unquoted = schema.type === 'string' && /^(number|boolean)$/.test(typeof error.data);
      const hint = unquoted ? '; put it in quotes' : '';
      return [problem(path, `is ${kindOf(error.data)}; allowed is ${allowed}${hint}`)];
    }
    case 'format': {
      const text = String(error.data);
      const message = formats[error.schema as keyof typeof formats](text) ?? '';
      if (error.propertyName === undefined) return [problem(path, message)];
      return [problem([...path, error.propertyName], message, 'key')];
    }
    case 'uniqueItems':
      return repeats(error.data as unknown[]).map(({ at }) =>
        problem([...path, at], 'repeats an earlier item of the list'),
      );
    case 'minItems':
    case 'maxItems':
      return [problem(path, `has ${(error.data as unknown[]).length} items; allowed is ${allowed}`)];
    case 'maxProperties':
      return [
        problem(path, `has ${Object.keys(error.data as object).length} entries; allowed is ${allowed}`),
      ];
    default:
      return [problem(path, `is not ${allowed}`)];
  }
}

function unknownKey(path: FieldPath, key: string, known: readonly string[]): Problem {
  const meant = nearestName(key, known);
  const hint = meant === undefined ? `known are ${known.join(', ')}` : `is ${meant} meant?`;
  return problem(path, `nothing has this name here; ${hint}`, 'unknown-key');
}

function repeatedIds(list: 'sources' | 'destinations', entries: readonly unknown[]): Problem[] {
  return repeats(entries.map((entry) => field(entry, 'id'))).map(({ at, first }) =>
    problem([list, at, 'id'], `is already the id of ${formatPath([list, first])}; ids are unique`),
  );
}

/** Within one source, the schema says it already. */
function repeatedWriteKeys(sources: readonly unknown[]): Problem[] {
  const keys = sources.flatMap((source, index) =>
    items(field(source, 'writeKeys')).map((key, position) => ({ key, index, position })),
  );
  return repeats(keys.map(({ key }) => key)).flatMap(({ at, first }) => {
    const [later, earlier] = [keys[at], keys[first]];
    if (!later || !earlier || later.index === earlier.index) return [];
    const owner = formatPath(['sources', earlier.index]);
    return [
      problem(
        ['sources', later.index, 'writeKeys', later.position],
        `is already a write key of ${owner}; a write key names one source`,
      ),
    ];
  });
}

/** A JSON Pointer (RFC 6901) into `value` as a path; only the value tells an index from a key. */
function pathOf(value: unknown, pointer: string): FieldPath {
  let current = value;
  return pointer
    .split('/')
    .slice(1)
    .map((escaped) => {
      const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
      const step = Array.isArray(current) ? Number(key) : key;
      current = (current as Record<string | number, unknown>)[step];
      return step;
    });
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}
