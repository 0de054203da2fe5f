/**
 * The record of `decisions`, as JSON: why an event did not become a delivery for each destination that is connected to its source.
 * An event whose deliveries say everything has none. The key is the user key of the event, as in `events`.
 */
import { formatInstant, parseInstant } from '@tailrace/events';
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import { bounded } from './bounded.ts';
import { objectIn } from './json.ts';
import { formatPosition, type RecordPosition } from './position.ts';

/** The rule of a filter that an event did not meet, as it was when the event was routed. */
export interface DecisionRule {
  /** The path of the rule in the filter: `condition.all[1]`. */
  readonly path: string;
  /** The rule in words: `properties.total atLeast 100`. */
  readonly text: string;
}

/** Destinations that the event does not go to, for the same reason. */
export interface DecisionGroup {
  /** `disabled`, `integrations`, `schema`, `filter` and so on; a later release may add reasons. */
  readonly reason: string;
  /** Only with the reasons `filter`, `sample` and `transform`; absent where the group combines several rules. */
  readonly rule?: DecisionRule | undefined;
  /** All destinations of the group. */
  readonly count: number;
  /** Ids of destinations of the group: all, or the first ones. */
  readonly destinations: readonly string[];
}

/** The decision of the router about one event. */
export interface Decision {
  /** The event's messageId. */
  readonly eventId: string;
  readonly sourceId: string;
  readonly type: string;
  /** The name of a track event, {@link bounded}; absent in records of older routers. */
  readonly event?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly decidedAt: number;
  /** Destinations that the event goes to; each has a delivery. 0 with no groups: no destination was connected. */
  readonly routed: number;
  readonly filtered: readonly DecisionGroup[];
}

/** Destinations of a decision, grouped by reason and rule, in full. */
export interface FilteredDestinations {
  readonly reason: string;
  readonly rule?: DecisionRule | undefined;
  readonly destinations: readonly { readonly id: string }[];
}

/** The bounds of a record: below 128 KB, however many destinations a source has. */
export const decisionLimits = {
  groups: 20,
  destinations: 100,
  ruleCharacters: 250,
} as const;

/** @param position of the event in `events`, for a header */
export function encodeDecision(
  topic: string,
  userKey: string,
  decision: Omit<Decision, 'filtered'> & { readonly filtered: readonly FilteredDestinations[] },
  position?: RecordPosition,
): OutgoingRecord {
  const { decidedAt, filtered, event, ...rest } = decision;
  const groups = filtered.length > 1 ? combined(filtered) : filtered;
  const listed = Math.floor(decisionLimits.destinations / Math.max(1, groups.length));
  return {
    topic,
    key: userKey,
    headers: position && { 'source-id': rest.sourceId, 'event-position': formatPosition(position) },
    value: JSON.stringify({
      ...rest,
      event: event && bounded(event),
      decidedAt: formatInstant(decidedAt),
      filtered: groups.map(({ reason, rule, destinations }) => ({
        reason,
        rule: rule && {
          path: rule.path.slice(0, decisionLimits.ruleCharacters),
          text: rule.text.slice(0, decisionLimits.ruleCharacters),
        },
        count: destinations.length,
        destinations: destinations.slice(0, listed).map(({ id }) => id),
      })),
    }),
  };
}

/** Destinations whose filters have the same rule become one group; where there are too many groups, those of the same reason. */
function combined(filtered: readonly FilteredDestinations[]): readonly FilteredDestinations[] {
  const byRule = Map.groupBy(filtered, ({ reason, rule }) =>
    rule === undefined ? reason : `${reason} ${rule.path} ${rule.text}`,
  );
  if (byRule.size <= decisionLimits.groups)
    return [...byRule.values()].map((groups) => ofGroups(groups, groups[0]?.rule));
  return [...Map.groupBy(filtered, ({ reason }) => reason).values()].map((groups) =>
    ofGroups(groups, undefined),
  );
}

function ofGroups(
  groups: readonly FilteredDestinations[],
  rule: DecisionRule | undefined,
): FilteredDestinations {
  const destinations =
    groups.length === 1 ? groups[0]?.destinations : groups.flatMap((group) => group.destinations);
  return { reason: groups[0]?.reason ?? '', rule, destinations: destinations ?? [] };
}

/** Undefined for a record that is not a decision, where another program wrote to the topic. */
export function decodeDecision({ value }: Pick<ConsumedRecord, 'value'>): Decision | undefined {
  const record = objectIn<Record<keyof Decision, unknown>>(value);
  if (!record) return undefined;
  const { eventId, sourceId, type, event, routed, filtered } = record;
  const decidedAt = typeof record.decidedAt === 'string' ? parseInstant(record.decidedAt) : undefined;
  if (typeof eventId !== 'string' || typeof sourceId !== 'string' || typeof type !== 'string')
    return undefined;
  if (decidedAt === undefined || !isCount(routed) || !Array.isArray(filtered)) return undefined;
  if (filtered.length > decisionLimits.groups) return undefined;
  const groups = filtered.map(groupOf).filter((group) => group !== undefined);
  if (groups.length < filtered.length) return undefined;
  return {
    eventId,
    sourceId,
    type,
    decidedAt,
    routed,
    filtered: groups,
    ...(typeof event === 'string' && { event }),
  };
}

function groupOf(value: unknown): DecisionGroup | undefined {
  const { reason, rule, count, destinations } = (value ?? {}) as Record<string, unknown>;
  if (typeof reason !== 'string' || !isCount(count) || !Array.isArray(destinations)) return undefined;
  if (destinations.length > decisionLimits.destinations) return undefined;
  if (!destinations.every((id) => typeof id === 'string')) return undefined;
  const { path, text } = (rule ?? {}) as Record<string, unknown>;
  const hasRule = typeof path === 'string' && typeof text === 'string';
  return { reason, ...(hasRule && { rule: { path, text } }), count, destinations };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
