/** The filter of a destination, compiled once for each change of its entry. */
import type { Filter } from '@tailrace/config';
import { compileCondition, type FilterRule } from './condition.ts';
import { compilePatterns } from './pattern.ts';

/** The part of an event that filters look at. */
export interface FilterableEvent {
  readonly type: string;
  /** The event of a track call, or the name of a page or screen. */
  readonly name: string | undefined;
  /** The webhook body as an object, made where a filter has a condition. */
  readonly document: () => object;
}

/** The first rule that an event does not meet; undefined where the destination gets it. */
export type CompiledFilter = (event: FilterableEvent) => FilterRule | undefined;

/** Call types that have a name. `events` does not concern the others. */
export const namedTypes: ReadonlySet<string> = new Set(['track', 'page', 'screen']);

export function compileFilter({ types, events, condition }: Filter): CompiledFilter {
  const rules: CompiledFilter[] = [];
  if (types) {
    const wanted: ReadonlySet<string> = new Set(types);
    const rule = { path: 'types', text: `types ${types.join(', ')}` };
    rules.push(({ type }) => (wanted.has(type) ? undefined : rule));
  }
  if (events?.include) rules.push(nameRule('include', events.include));
  if (events?.exclude) rules.push(nameRule('exclude', events.exclude));
  if (condition) {
    const check = compileCondition(condition, 'condition');
    rules.push(({ document }) => check(document()));
  }
  return (event) => {
    for (const rule of rules) {
      const broken = rule(event);
      if (broken) return broken;
    }
    return undefined;
  };
}

function nameRule(list: 'include' | 'exclude', patterns: readonly string[]): CompiledFilter {
  const matches = compilePatterns(patterns);
  const wanted = list === 'include';
  const rule = { path: `events.${list}`, text: `events ${list} ${patterns.join(', ')}` };
  return ({ type, name = '' }) => (!namedTypes.has(type) || matches(name) === wanted ? undefined : rule);
}
