/** The form of a filter, and the filter that it makes. */
import type { Schema } from '../../../api/client.ts';
import { linesOf } from '../../../parts/form.ts';

export type Filter = Schema['Filter'];
export const filterTypes = ['track', 'identify', 'page', 'screen', 'group', 'alias'] as const;
export type FilterType = (typeof filterTypes)[number];

export interface FilterDraft {
  readonly types: readonly FilterType[];
  /** A pattern in each line. */
  readonly include: string;
  readonly exclude: string;
  /** JSON. */
  readonly condition: string;
}

export function filterDraftOf({ types = [], events = {}, condition }: Filter = {}): FilterDraft {
  return {
    types,
    include: (events.include ?? []).join('\n'),
    exclude: (events.exclude ?? []).join('\n'),
    condition: condition ? JSON.stringify(condition, undefined, 2) : '',
  };
}

/** Undefined for a form without rules; `not-json` where the condition cannot be read. */
export function filterOf(draft: FilterDraft): Filter | undefined | 'not-json' {
  const condition = conditionIn(draft);
  if (condition === 'not-json') return condition;
  const include = linesOf(draft.include);
  const exclude = linesOf(draft.exclude);
  const filter: Filter = {
    ...(draft.types.length > 0 && { types: filterTypes.filter((type) => draft.types.includes(type)) }),
    ...((include.length > 0 || exclude.length > 0) && {
      events: { ...(include.length > 0 && { include }), ...(exclude.length > 0 && { exclude }) },
    }),
    ...(condition && { condition }),
  };
  return Object.keys(filter).length === 0 ? undefined : filter;
}

/** Undefined where there is none. */
export function conditionIn({
  condition,
}: Pick<FilterDraft, 'condition'>): ReturnType<typeof parseObject> | undefined {
  return condition.trim() === '' ? undefined : parseObject(condition);
}

export function parseObject(json: string): Readonly<Record<string, unknown>> | 'not-json' {
  try {
    const value: unknown = JSON.parse(json);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : 'not-json';
  } catch {
    return 'not-json';
  }
}
