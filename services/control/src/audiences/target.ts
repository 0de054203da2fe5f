/** The audience that a request names, and whether it may be synced. */
import { builtInSource, type ConfigView } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import type { Asker } from '../access/places.ts';
import { entryNotFound } from '../http/errors.ts';
import { requireEnabled } from '../replays/require-enabled.ts';
import type { Audience, AudienceKey } from './state/records.ts';
import { traitName } from './trait-name.ts';

export interface AudienceTarget {
  readonly sourceId: string;
  readonly name: string;
  readonly ratePerSecond?: number | undefined;
  /** Who asks for the sync. */
  readonly asker?: Asker;
}

export const maxNameLength = 200;

/**
 * Whether calls of the source are sent to the destination.
 *
 * @throws TailraceError `not-found`, `conflict`
 */
export function checkDestination(
  config: Pick<ConfigView, 'destination'>,
  { sourceId, destination }: Pick<AudienceTarget, 'sourceId'> & { readonly destination: string },
): void {
  requireEnabled(config, destination, 'would be filtered');
  if (config.destination(destination)?.sources.includes(sourceId)) return;
  throw new TailraceError(
    'conflict',
    `The destination ${JSON.stringify(destination)} is not connected to the source ${JSON.stringify(sourceId)}. Connect it first.`,
  );
}

/**
 * @param find the audience with this trait
 * @throws TailraceError `not-found`, `conflict`, `invalid-request`
 */
export function checkTarget(
  { sourceId, name }: AudienceTarget,
  config: Pick<ConfigView, 'source'>,
  find: (key: AudienceKey) => Audience | undefined,
): AudienceKey {
  const source = config.source(sourceId);
  if (!source) throw entryNotFound('source', sourceId);
  if (sourceId === builtInSource.id) {
    throw new TailraceError('conflict', 'The source is built in, and its calls have no users.');
  }
  if (!source.enabled) {
    throw new TailraceError(
      'conflict',
      'The source is disabled, so its identify calls would be rejected. Enable it first.',
    );
  }
  const trait = traitName(name);
  if (trait === '' || name.length > maxNameLength || !name.isWellFormed()) {
    const rule = `is not a text of 1 to ${maxNameLength} characters with at least one letter or digit`;
    throw new TailraceError('invalid-request', `name ${rule}.`, { problems: [{ field: 'name', rule }] });
  }
  const other = find({ sourceId, trait });
  if (other && other.name !== name) {
    const message =
      `The audience ${JSON.stringify(other.name)} of this source has the same trait, ${trait}. ` +
      'Use that name, or a name with another trait.';
    throw new TailraceError('conflict', message);
  }
  return { sourceId, trait };
}
