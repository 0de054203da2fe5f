/**
 * Reads settings from environment variables by a TypeBox schema. The schema describes the values; a property
 * with the keyword `env` names its variable, and a nested object groups settings that belong together.
 */
import { nearestName, TailraceError } from '@tailrace/errors';
import { Ajv } from 'ajv';
import { IsOptional, type StaticDecode, type TObject, type TProperties, type TSchema } from 'typebox';
import { formOf } from './describe.ts';
import { fileVariable, textOf } from './secret-file.ts';
import { formats, parseText, type VariableSchema } from './text.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type SettingsOf<S extends TSchema> = Readonly<StaticDecode<S>>;

const ajv = new Ajv({ strictSchema: false, formats });

/**
 * The settings of `schema`, frozen. An empty variable counts as unset. A secret may be in a file, see secret-file.ts. `Type.Decode` callbacks convert a value or a
 * group once everything in it is valid; they report problems by throwing TailraceError('invalid-settings').
 *
 * @throws TailraceError `invalid-settings` with every problem, one per line
 */
export function readSettings<P extends TProperties>(
  env: Environment,
  schema: TObject<P>,
): SettingsOf<TObject<P>> {
  const problems: string[] = [];
  const settings = readGroup(schema, env, problems);
  if (problems.length === 0) return settings as SettingsOf<TObject<P>>;
  throw new TailraceError('invalid-settings', [...problems, ...misspelledVariables(env, schema)].join('\n'));
}

function readGroup(group: TObject, env: Environment, problems: string[]): unknown {
  const before = problems.length;
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(group.properties)) {
    const value = isGroup(schema)
      ? readGroup(schema, env, problems)
      : readVariable(schema, env, !IsOptional(schema), problems);
    if (value !== undefined) values[name] = value;
  }
  return problems.length > before ? undefined : decode(group, values, problems);
}

function readVariable(schema: TSchema, env: Environment, isRequired: boolean, problems: string[]): unknown {
  const variable = schema as VariableSchema;
  const text = collect(problems, () => textOf(variable, env));
  if (text === undefined) return undefined;
  if (text === '') {
    if (variable.default !== undefined) return decode(schema, variable.default, problems);
    if (isRequired) problems.push(`${variable.env}: not set. ${variable.hint ?? ''}`);
    return undefined;
  }
  const value = parseText(variable, text);
  if (ajv.validate(schema, value)) return decode(schema, value, problems);
  const found = variable.writeOnly ? '(not shown)' : JSON.stringify(withoutPassword(text));
  problems.push(`${variable.env}: invalid value ${found}; must be ${formOf(variable)}`);
  return undefined;
}

/** A URL may contain user name and password. */
function withoutPassword(text: string): string {
  return text.replaceAll(/\/\/[^/]*@/g, '//(not shown)@');
}

/** Calls the callback of `Type.Decode`. `Value.Decode` of TypeBox would load 8 MB of code into each service. */
function decode(schema: TSchema, value: unknown, problems: string[]): unknown {
  const { '~codec': codec } = schema as { '~codec'?: { decode: (value: unknown) => unknown } };
  return collect(problems, () => {
    const decoded = codec ? codec.decode(value) : value;
    return Buffer.isBuffer(decoded) ? decoded : Object.freeze(decoded);
  });
}

/** The result of `read`; undefined where it reported a problem. */
function collect<T>(problems: string[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TailraceError)) throw error;
    problems.push(error.message);
    return undefined;
  }
}

/** The variables of `schema`, those of its groups included, in the order of declaration. */
export function variablesOf(schema: TObject): (VariableSchema & { readonly isRequired: boolean })[] {
  return Object.values(schema.properties).flatMap((property) => {
    if (isGroup(property)) return variablesOf(property);
    const variable = property as VariableSchema;
    return [{ ...variable, isRequired: variable.default === undefined && !IsOptional(property) }];
  });
}

function isGroup(schema: TSchema): schema is TObject {
  return 'properties' in schema;
}

/** Variables of OpenTelemetry for what services do not send, beside those for traces, which have similar names. */
const otherSignals = /^OTEL_.*(METRIC|LOG|PROFILE|PROPAGATORS)/;

/**
 * One sentence for each unknown variable whose name is close to a known one. Other unknown variables are normal:
 * services share an environment, and each reads only a part of it.
 */
export function misspelledVariables(env: Environment, schema: TObject): string[] {
  const variables = variablesOf(schema);
  const known = variables
    .flatMap((variable) => [variable.env, fileVariable(variable)])
    .filter((name) => name !== undefined);
  const prefixes = new Set(known.map((name) => `${name.split('_')[0] ?? ''}_`));
  return Object.keys(env)
    .filter((name) => !known.includes(name) && [...prefixes].some((prefix) => name.startsWith(prefix)))
    .filter((name) => !otherSignals.test(name))
    .flatMap((name) => {
      const notSecret = variables.find(({ env }) => name === `${env}_FILE`);
      if (notSecret) return [`${name}: only secrets are read from files; set ${notSecret.env}.`];
      const meant = nearestName(name, known);
      return meant === undefined ? [] : [`${name}: unknown variable; did you mean ${meant}?`];
    });
}
