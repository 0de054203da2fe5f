/**
 * Validates sources and destinations from a file, an API or the topic, and reports all problems together. Messages are
 * logged, so they never contain a write key, a secret, a key, a header's value or a URL.
 */
import { nearestName } from '@tailrace/errors';
import { parseDuration } from '@tailrace/events';
import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from 'ajv';
import { builtInSource, builtInSourceRule } from './source/built-in.ts';
import { destinationProblems } from './destination/rules.ts';
import { fieldsProblems } from './destination/fields.ts';
import { filterConditionSchema, filterProblems } from './destination/filter.ts';
import { notificationSchema, type Notification } from './notification/schema.ts';
import { notificationProblems, smtpUrlProblem } from './notification/rules.ts';
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
import { tokenSchema, type Token } from './token.ts';
import { certificatesProblem, privateKeyProblem } from './destination/tls.ts';
import { transformProblem } from './destination/transform.ts';
import { maskProblems } from '../secrets/mask.ts';
import { nameSecretHeaders } from '../secrets/secrets.ts';
import { signingKeyProblem } from '../secrets/signing-key.ts';
import {
  headerNameProblem,
  headerValueProblem,
  ownHeaderProblem,
  webhookUrlProblem,
} from './destination/webhook.ts';

export type Checked<T> = { readonly value: T } | { readonly problems: readonly Problem[] };

/** Each returns why a text is invalid, or undefined. */
const formats = {
  'date-time': timeProblem,
  'webhook-url': webhookUrlProblem,
  'header-name': headerNameProblem,
  'header-value': headerValueProblem,
  'signature-header': (name: string) => ownHeaderProblem(name, 'x-signature'),
  'delivery-id-header': (name: string) => ownHeaderProblem(name, 'webhook-id'),
  'webhook-timeout': durationWithin('100ms', '5s'),
  'retry-window': durationWithin('0s', '4h'),
  'retry-delay': durationWithin('1s', '4h'),
  'disable-after': durationWithin('1h', '30d'),
  certificates: certificatesProblem,
  'private-key': privateKeyProblem,
  'signing-key': signingKeyProblem,
  'smtp-url': smtpUrlProblem,
  transform: transformProblem,
  silence: durationWithin('5m', '7d'),
} as const;

function timeProblem(text: string): string | undefined {
  const isTime =
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(text) && !Number.isNaN(Date.parse(text));
  return isTime ? undefined : 'is not a time in UTC, such as 2026-05-01T08:30:00Z';
}

function durationWithin(least: string, most: string): (text: string) => string | undefined {
  const [leastMs = 0, mostMs = 0] = [parseDuration(least), parseDuration(most)];
  return (text) => {
    const ms = parseDuration(text) ?? NaN;
    return ms >= leastMs && ms <= mostMs
      ? undefined
      : `is not a duration from ${least} to ${most}, such as ${most}`;
  };
}

/** The parts of a schema that messages contain. */
interface DescribedSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, DescribedSchema>>;
}

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  useDefaults: true,
  // The operand of a filter's condition is a text, a number or a boolean.
  allowUnionTypes: true,
  formats: Object.fromEntries(
    Object.entries(formats).map(([name, refuse]) => [name, (text: string) => refuse(text) === undefined]),
  ),
});
/** Compiles the schema at the first use, so that commands that validate nothing start faster. */
function validatorOf(schema: AnySchema): () => ValidateFunction {
  let validator: ValidateFunction | undefined;
  return () => (validator ??= ajv.compile(schema));
}

const configurationValidator = validatorOf(configurationSchema);
const sourceValidator = validatorOf(sourceSchema);
const destinationValidator = validatorOf(destinationSchema);
const conditionValidator = validatorOf(filterConditionSchema);
const notificationValidator = validatorOf(notificationSchema);
const tokenValidator = validatorOf(tokenSchema);

/**
 * The content of a file with its defaults, or every problem. Sources of destinations may be defined elsewhere, so
 * {@link missingSources} checks them separately. A mask in place of a secret is refused: a file states secrets.
 */
export function checkConfiguration(value: unknown): Checked<Configuration> {
  const checked = check<Configuration>(configurationValidator(), value, (copy) => {
    const sources = items(field(copy, 'sources'));
    const destinations = items(field(copy, 'destinations'));
    const notifications = items(field(copy, 'notifications'));
    return [
      ...repeatedIds('sources', sources),
      ...repeatedWriteKeys(sources),
      ...sources.flatMap((source, index) =>
        field(source, 'id') === builtInSource.id ? problem(['sources', index, 'id'], builtInSourceRule) : [],
      ),
      ...repeatedIds('destinations', destinations),
      ...destinations.flatMap((entry, index) => beyondSchema(entry, ['destinations', index])),
      ...repeatedIds('notifications', notifications),
      ...notifications.flatMap((entry, index) => notificationProblems(entry, ['notifications', index])),
      ...maskProblems(copy),
    ];
  });
  if ('problems' in checked) return checked;
  const { sources, destinations, notifications } = checked.value;
  const named = destinations.map(nameSecretHeaders);
  return { value: { sources, destinations: named, ...(notifications && { notifications }) } };
}

export interface CheckOptions {
  /** Accepts keys that this version does not know. Default false. */
  readonly allowUnknownKeys?: boolean;
  /** Writes defaults into the value itself, which saves the time of a copy. Default false. */
  readonly inPlace?: boolean;
}

export function checkSource(value: unknown, options?: CheckOptions): Checked<Source> {
  return check<Source>(sourceValidator(), value, () => [], options);
}

export function checkDestination(value: unknown, options?: CheckOptions): Checked<Destination> {
  const checked = check<Destination>(
    destinationValidator(),
    value,
    (copy) => beyondSchema(copy, []),
    options,
  );
  return 'problems' in checked ? checked : { value: nameSecretHeaders(checked.value) };
}

export function checkNotification(value: unknown, options?: CheckOptions): Checked<Notification> {
  return check<Notification>(
    notificationValidator(),
    value,
    (copy) => notificationProblems(copy, []),
    options,
  );
}

/**
 * Unknown keys are always refused: a later release may limit tokens by another key, and a token must not reach more where its
 * limit is unknown.
 */
export function checkToken(value: unknown, options?: Pick<CheckOptions, 'inPlace'>): Checked<Token> {
  return check<Token>(tokenValidator(), value, () => [], options);
}

/** A problem for each source of a destination that is not in `sourceIds`. */
export function missingSources(
  destinations: readonly Destination[],
  sourceIds: readonly string[],
): Problem[] {
  const existing = new Set([...sourceIds, builtInSource.id]);
  return destinations.flatMap(({ sources }, index) =>
    sources.flatMap((sourceId, position) => {
      if (existing.has(sourceId)) return [];
      const meant = nearestName(sourceId, sourceIds);
      const hint = meant === undefined ? '' : `; did you mean ${quote(meant)}?`;
      const message = `there is no source ${quote(sourceId)}${hint}`;
      return [problem(['destinations', index, 'sources', position], message)];
    }),
  );
}

function beyondSchema(destination: unknown, path: FieldPath): Problem[] {
  return [
    ...destinationProblems(destination, path),
    ...fieldsProblems(field(destination, 'fields'), [...path, 'fields']),
    ...filterProblems(field(destination, 'filter'), [...path, 'filter'], (condition, at) =>
      schemaProblems(conditionValidator(), condition, at),
    ),
  ];
}

function schemaProblems(validate: ValidateFunction, value: unknown, path: FieldPath): Problem[] {
  const broken = validate(value) ? [] : (validate.errors ?? []);
  return broken.flatMap((error) => problemOf(error, [...path, ...pathOf(value, error.instancePath)]));
}

function check<T>(
  validate: ValidateFunction,
  value: unknown,
  checkBeyondSchema: (copy: unknown) => Problem[],
  { allowUnknownKeys = false, inPlace = false }: CheckOptions = {},
): Checked<T> {
  // Validation writes defaults into the value, so it gets a copy of the caller's value.
  const copy = inPlace ? value : structuredClone(value);
  const problems = [...schemaProblems(validate, copy, []), ...checkBeyondSchema(copy)].filter(
    ({ about }) => !(allowUnknownKeys && about === 'unknown-key'),
  );
  return problems.length === 0 ? { value: copy as T } : { problems };
}

function problemOf(error: ErrorObject, path: FieldPath): Problem[] {
  const schema = error.parentSchema as DescribedSchema;
  const { description: allowed = '' } = schema;
  const { additionalProperty = '', missingProperty = '' } = error.params as Readonly<Record<string, string>>;
  switch (error.keyword) {
    case 'propertyNames':
      // The error of the name itself is also in the list.
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
  const hint = meant === undefined ? `known keys are ${known.join(', ')}` : `did you mean ${meant}?`;
  return problem(path, `unknown key; ${hint}`, 'unknown-key');
}

function repeatedIds(
  list: 'sources' | 'destinations' | 'notifications',
  entries: readonly unknown[],
): Problem[] {
  return repeats(entries.map((entry) => field(entry, 'id'))).map(({ at, first }) =>
    problem([list, at, 'id'], `is already the id of ${formatPath([list, first])}; ids are unique`),
  );
}

/** Only between sources: the schema rejects repeated keys within a source. */
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

/** A JSON Pointer (RFC 6901) into `value` as a path; `value` shows which steps are indexes. */
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
