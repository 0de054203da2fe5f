/** JSON Schemas for the settings in the values of the chart, made from the schemas in the code. */
import { formatValue, formOf, variablesOf } from '@tailrace/service';
import type { TObject } from 'typebox';
import { settingsByProcess } from './settings.ts';

type Variable = ReturnType<typeof variablesOf>[number];
type Schema = Readonly<Record<string, unknown>>;

const number = '[0-9]{1,12}';
const textForms = {
  ms: { type: 'string', pattern: '^[0-9]{1,9}(ms|s|m|h|d)$' },
  bytes: { type: ['integer', 'string'], pattern: `^${number}([KkMmGg][Bb])?$` },
  none: { type: ['integer', 'string'], pattern: `^-?${number}$` },
};

/** The values that a variable accepts. A list may be a list of YAML, or text with commas. */
function valueSchema(variable: Variable): Schema {
  const { type, unit = 'none', minimum, maximum } = variable;
  if (variable.enum) return { enum: variable.enum };
  if (type === 'boolean') return { enum: [true, false, 'true', 'false'] };
  if (variable.items) return { type: ['array', 'string'], items: { type: ['string', 'integer'] } };
  if (type !== 'integer') {
    const { pattern } = variable as { readonly pattern?: string };
    return { type: ['string', 'number'], ...(pattern !== undefined && { pattern: `^$|${pattern}` }) };
  }
  const limits = unit === 'ms' ? {} : { minimum, maximum };
  return { ...textForms[unit], ...limits };
}

function settingSchema(variable: Variable): Schema {
  const description = `${variable.description ?? ''} Value: ${formOf(variable)}.`;
  // The templates refuse a secret here with a sentence, which a schema cannot.
  if (variable.writeOnly === true)
    return { description: `Secret: belongs into settingsFrom. ${description}` };
  const text = variable.default === undefined ? '' : formatValue(variable, variable.default);
  return {
    description: text === '' ? description : `${description} Default: ${text}.`,
    ...valueSchema(variable),
  };
}

const reference = (kind: string): Schema => ({
  type: 'object',
  description: `The key of an existing ${kind}.`,
  properties: { name: { type: 'string' }, key: { type: 'string' }, optional: { type: 'boolean' } },
  required: ['name', 'key'],
  additionalProperties: false,
});

/** A value from a Secret or a ConfigMap, as in a container's `valueFrom`. */
export const settingSource: Schema = {
  type: ['object', 'null'],
  properties: { secretKeyRef: reference('Secret'), configMapKeyRef: reference('ConfigMap') },
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
};

const byName = (of: readonly Variable[], schema: (variable: Variable) => Schema): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(of.map((variable) => [variable.env, schema(variable)])),
});

/** The maps `settings` and `settingsFrom` of one process. */
export function settingMaps(process: TObject): { readonly settings: Schema; readonly settingsFrom: Schema } {
  const variables = variablesOf(process);
  return {
    settings: byName(variables, settingSchema),
    settingsFrom: byName(variables, () => ({ $ref: '#/$defs/settingSource' })),
  };
}

/** The maps for all processes: every setting that one of them has. */
export function sharedSettingMaps(): ReturnType<typeof settingMaps> {
  const variables = new Map(
    Object.values(settingsByProcess)
      .flatMap((settings) => variablesOf(settings))
      .map((variable) => [variable.env, variable] as const),
  );
  return {
    settings: byName([...variables.values()], settingSchema),
    settingsFrom: byName([...variables.values()], () => ({ $ref: '#/$defs/settingSource' })),
  };
}
