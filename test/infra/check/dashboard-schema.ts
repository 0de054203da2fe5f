/**
 * The form of a dashboard, as a JSON Schema: the part of its model (schemaVersion 39, Grafana 10 to 12) that these
 * dashboards use, without any other field. A misspelled field is therefore found.
 */
const text = { type: 'string', minLength: 1 } as const;
const count = { type: 'integer', minimum: 0 } as const;

function object(properties: Record<string, object>, optional: readonly string[] = []): object {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
    additionalProperties: false,
  };
}

const datasource = object({ type: { const: 'prometheus' }, uid: { const: '${datasource}' } });
const gridPos = object({
  x: count,
  y: count,
  w: { ...count, minimum: 1, maximum: 24 },
  h: { ...count, minimum: 1 },
});

const row = object({
  id: count,
  type: { const: 'row' },
  title: text,
  collapsed: { const: false },
  panels: { type: 'array', maxItems: 0 },
  gridPos,
});

const target = object(
  {
    refId: { type: 'string', pattern: '^[A-Z]$' },
    datasource,
    expr: text,
    legendFormat: text,
    range: { const: true },
    instant: { const: true },
    format: { const: 'table' },
  },
  ['range', 'instant', 'format'],
);

const step = object({ color: { enum: ['green', 'yellow', 'red'] }, value: { type: ['number', 'null'] } });

const panel = object(
  {
    id: count,
    type: { enum: ['stat', 'timeseries', 'table'] },
    title: text,
    description: text,
    datasource,
    gridPos,
    links: {
      type: 'array',
      minItems: 1,
      items: object({
        title: text,
        url: { type: 'string', pattern: '^https://' },
        targetBlank: { type: 'boolean' },
      }),
    },
    targets: { type: 'array', minItems: 1, items: target },
    fieldConfig: object({
      defaults: object(
        {
          unit: { enum: ['percentunit', 'short', 's', 'bytes', 'reqps', 'ops', 'dtdurations', 'none'] },
          noValue: text,
          min: { type: 'number' },
          thresholds: object({
            mode: { const: 'absolute' },
            steps: { type: 'array', minItems: 2, items: step },
          }),
          color: object({ mode: { const: 'thresholds' } }),
          custom: { type: 'object' },
        },
        ['thresholds', 'color', 'custom'],
      ),
      overrides: { type: 'array', maxItems: 0 },
    }),
    options: { type: 'object' },
    transformations: { type: 'array' },
  },
  ['transformations'],
);

const variable = {
  type: 'object',
  properties: {
    name: { type: 'string', pattern: '^[a-z]+$' },
    label: text,
    type: { enum: ['datasource', 'query'] },
  },
  required: ['name', 'label', 'type', 'query'],
} as const;

export const dashboardSchema = object({
  uid: { type: 'string', pattern: '^[a-z-]{1,40}$' },
  title: text,
  description: text,
  tags: { type: 'array', items: text },
  schemaVersion: { const: 39 },
  version: count,
  editable: { type: 'boolean' },
  graphTooltip: { enum: [0, 1, 2] },
  refresh: text,
  time: object({ from: text, to: text }),
  timezone: text,
  links: { type: 'array', items: { type: 'object', required: ['type', 'title'] } },
  annotations: object({ list: { type: 'array' } }),
  templating: object({ list: { type: 'array', items: variable } }),
  panels: { type: 'array', minItems: 2, items: { oneOf: [row, panel] } },
});
