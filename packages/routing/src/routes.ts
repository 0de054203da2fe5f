/** The destinations of a source as routing needs them, prepared once for each change of the configuration. */
import type { ConfigLookup, Destination } from '@tailrace/config';
import type { LabelsOf } from '@tailrace/metrics';
import { compileFilter, type FilterableEvent } from './filter/filter.ts';
import type { FilterRule } from './filter/condition.ts';
import { compileSample, type SampledEvent } from './sample.ts';

/**
 * Why a destination does not get an event: it is disabled, the event's own `integrations`, the source's list of blocked track
 * events, or the destination's filter, sample or transform.
 */
export type FilterReason = Exclude<
  LabelsOf<'tailrace_deliveries_filtered_total'>['reason'],
  'record-too-large'
>;

/** Destinations that do not get an event for the same reason. */
export interface FilteredDestinations {
  readonly reason: FilterReason;
  /** The rule that the event does not meet; only with the reasons `filter`, `sample` and `transform`. */
  readonly rule?: FilterRule;
  readonly destinations: readonly Destination[];
}

/** The first rule of a filter or sample that an event does not meet. */
type CompiledRules = (event: FilterableEvent & SampledEvent) => FilterRule | undefined;

export interface SourceRoutes {
  readonly enabled: readonly Destination[];
  /** The filters and samples of the enabled destinations, in their order; undefined where none has one. */
  readonly filters: readonly (CompiledRules | undefined)[] | undefined;
  /** Whether an enabled destination has a transform. */
  readonly transforms: boolean;
  /** One group with the disabled destinations, or none. */
  readonly disabled: readonly FilteredDestinations[];
  /** Enabled and disabled destinations. */
  readonly connected: number;
}

/**
 * Returns the routes of a source. They are prepared again when the arrays of `config` are new ones, and a filter is compiled
 * again only where its entry has changed.
 */
export function createRoutes(
  config: Pick<ConfigLookup, 'destinationsOf' | 'disabledDestinationsOf'>,
): (sourceId: string) => SourceRoutes {
  const compiled = new WeakMap<Destination, CompiledRules>();
  const prepared = new WeakMap<
    readonly Destination[],
    { readonly of: readonly Destination[]; readonly routes: SourceRoutes }
  >();

  const filterOf = (destination: Destination): CompiledRules | undefined => {
    if (!destination.filter && !destination.sample) return undefined;
    let filter = compiled.get(destination);
    if (!filter) compiled.set(destination, (filter = compileRules(destination)));
    return filter;
  };

  return (sourceId) => {
    const enabled = config.destinationsOf(sourceId);
    const disabled = config.disabledDestinationsOf(sourceId);
    const known = prepared.get(enabled);
    if (known?.of === disabled) return known.routes;
    const filters = enabled.map(filterOf);
    const routes: SourceRoutes = {
      enabled,
      filters: filters.some((filter) => filter) ? filters : undefined,
      transforms: enabled.some(({ transform }) => transform !== undefined),
      disabled: disabled.length > 0 ? [{ reason: 'disabled', destinations: disabled }] : [],
      connected: enabled.length + disabled.length,
    };
    prepared.set(enabled, { of: disabled, routes });
    return routes;
  };
}

function compileRules({ id, filter, sample }: Destination): CompiledRules {
  const passes = filter && compileFilter(filter);
  const contains = sample && compileSample(sample, id);
  return (event) => passes?.(event) ?? contains?.(event);
}
