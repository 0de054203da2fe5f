/**
 * Which features an entry needs its readers to have. A release ignores keys that it does not know, which is harmful for some:
 * without `paused` it would send. Such features are listed here. An entry that uses one says so, in the key `requires` of its
 * record, and a release with a lower level holds the entry back instead of ignoring a part of it.
 *
 * To add a feature that an older release must not ignore: raise `ownLevel` by one, and add the feature with that level.
 */
import { TailraceError } from '@tailrace/errors';
import { hasTextOperator } from './destination/filter.ts';
import { field, items } from './problem.ts';
import type { Destination } from './schema.ts';

/** The level of this release. */
export const ownLevel = 4;
/** The first releases that read `requires` have this level, so its features need no record. */
const firstLevel = 1;

/** The service that would do harm without the feature. */
export type Reader = 'router' | 'delivery';

export interface Requirement {
  readonly feature: string;
  readonly level: number;
  readonly by: Reader;
}

export interface Feature extends Requirement {
  readonly isUsed: (destination: Destination) => boolean;
}

const features: readonly Feature[] = [
  { feature: 'paused', level: 1, by: 'delivery', isUsed: ({ paused }) => paused === true },
  { feature: 'ordering', level: 1, by: 'delivery', isUsed: ({ ordering }) => ordering === 'user' },
  { feature: 'filter', level: 1, by: 'router', isUsed: ({ filter }) => filter !== undefined },
  { feature: 'textFilter', level: 2, by: 'router', isUsed: hasTextFilter },
  { feature: 'fields', level: 3, by: 'router', isUsed: ({ fields }) => fields !== undefined },
  { feature: 'sample', level: 3, by: 'router', isUsed: ({ sample }) => sample !== undefined },
  { feature: 'retry', level: 3, by: 'delivery', isUsed: ({ retry }) => retry !== undefined },
  {
    feature: 'maxInFlight',
    level: 3,
    by: 'delivery',
    isUsed: ({ maxInFlight }) => maxInFlight !== undefined,
  },
  { feature: 'contentType', level: 3, by: 'router', isUsed: uses('contentType') },
  { feature: 'contentType', level: 3, by: 'delivery', isUsed: uses('contentType') },
  { feature: 'method', level: 3, by: 'delivery', isUsed: hasMethod },
  { feature: 'auth', level: 3, by: 'delivery', isUsed: uses('auth') },
  { feature: 'signature', level: 3, by: 'delivery', isUsed: uses('signature') },
  { feature: 'ed25519', level: 3, by: 'delivery', isUsed: uses('ed25519') },
  { feature: 'transform', level: 4, by: 'router', isUsed: hasTransform },
  // It sends the headers and the URL of the transform, and no body that the transform has not made.
  { feature: 'transform', level: 4, by: 'delivery', isUsed: hasTransform },
  { feature: 'deliveryIdHeader', level: 3, by: 'delivery', isUsed: uses('deliveryIdHeader') },
  { feature: 'oauth2', level: 4, by: 'delivery', isUsed: uses('oauth2') },
];

function uses(setting: keyof Destination['settings']): Feature['isUsed'] {
  return ({ settings }) => settings[setting] !== undefined;
}

function hasTransform({ transform }: Destination): boolean {
  return transform !== undefined;
}

function hasMethod({ settings }: Destination): boolean {
  return settings.webhooks.some(({ method }) => method !== undefined);
}

function hasTextFilter({ filter }: Destination): boolean {
  return filter?.condition !== undefined && hasTextOperator(filter.condition);
}

/**
 * The entry in the form of its record. A filter with an operator that releases of level 1 do not know is stored as `textFilter`:
 * as `filter` it would make the entry unreadable for them, and then its requirements too.
 */
export function storedForm(destination: Destination): object {
  const { filter, ...entry } = destination;
  return hasTextFilter(destination) ? { ...entry, textFilter: filter } : destination;
}

/** The entry that {@link storedForm} has stored. */
export function fromStoredForm(content: unknown): unknown {
  if (typeof content !== 'object' || content === null || !('textFilter' in content)) return content;
  const { textFilter, ...entry } = content;
  return { ...entry, filter: textFilter };
}

/** What a record of the destination requires: its features, and what a newer release has written for keys that are kept. */
export function requirementsOf(
  destination: Destination,
  known: readonly Feature[] = features,
): readonly Requirement[] {
  const used = known.filter(({ level, isUsed }) => level > firstLevel && isUsed(destination));
  return [...used.map(({ feature, level, by }) => ({ feature, level, by })), ...unmetBy(destination)];
}

/** The requirements of a record's content that are above `level`. */
export function unmetBy(content: unknown, level = ownLevel): readonly Requirement[] {
  return items(field(content, 'requires')).filter(
    (one): one is Requirement => Number(field(one, 'level')) > level,
  );
}

/** The entry with what it requires above this release's level, and without the rest, which readers need not see. */
export function withRequirements(
  destination: Destination,
  requires: readonly Requirement[],
): Destination & { readonly requires?: readonly Requirement[] } {
  const { requires: _before, ...entry } = destination as Destination & { readonly requires?: unknown };
  return requires.length > 0 ? { ...entry, requires } : entry;
}

const mostNamed = 10;

/** @param unmet by the id of the destination; undefined is returned if it is empty */
export function newerReleaseNeeded(
  unmet: ReadonlyMap<string, readonly Requirement[]>,
): TailraceError | undefined {
  if (unmet.size === 0) return undefined;
  const named = [...unmet].slice(0, mostNamed).map(([id, requires]) => {
    const wanted = requires.map(({ feature, level }) => `${feature}, level ${level}`).join('; ');
    return `${id} (${wanted})`;
  });
  const others = unmet.size > mostNamed ? ` and ${unmet.size - mostNamed} more` : '';
  return new TailraceError(
    'config-needs-newer-release',
    `Destinations use features that this release, of level ${ownLevel}, does not have: ${named.join(', ')}${others}. ` +
      'Run the newer release, or remove the features from the destinations.',
  );
}
