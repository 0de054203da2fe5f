/** Makes a new deletion request, by the configuration at that moment. */
import { builtInSource, type ConfigView } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { allSources } from '@tailrace/suppressions';
import type { AudienceKey } from '../audiences/index.ts';
import type { AffectedSource, DeletionRequest, UnaffectedSource } from './request.ts';

export interface RequestContent {
  readonly id: string;
  /** Distinct. */
  readonly userIds: readonly string[];
  /** All sources where undefined. */
  readonly sources: readonly string[] | undefined;
  /** See `contentOf`. */
  readonly content: string;
  /** By partition, where `events` ends. */
  readonly ends: readonly number[];
}

/**
 * @param config current
 * @param audiences all
 * @throws TailraceError `invalid-request` for an unknown source
 */
export function newRequest(
  { id, userIds, sources: wanted, content, ends }: RequestContent,
  config: Pick<ConfigView, 'source' | 'sources' | 'destinationsOf'>,
  audiences: readonly AudienceKey[],
): DeletionRequest {
  const missing = (wanted ?? []).filter(
    (sourceId) => !config.source(sourceId) || sourceId === builtInSource.id,
  );
  if (missing.length > 0) {
    const rule = `has unknown sources: ${missing.join(', ')}`;
    throw new TailraceError('invalid-request', `sources ${rule}.`, {
      problems: [{ field: 'sources', rule }],
    });
  }
  const sources: AffectedSource[] = [];
  const unaffected: UnaffectedSource[] = [];
  for (const sourceId of new Set(wanted ?? config.sources().map(({ id }) => id))) {
    const destinations = config.destinationsOf(sourceId).map(({ id }) => id);
    const isDisabled = config.source(sourceId)?.enabled !== true;
    if (!isDisabled && destinations.length > 0) sources.push({ sourceId, destinations });
    else unaffected.push({ sourceId, reason: isDisabled ? 'disabled' : 'no-destination' });
  }
  const now = new Date().toISOString();
  return {
    id,
    createdAt: now,
    updatedAt: now,
    users: userIds.length,
    content,
    sources,
    unaffected,
    sent: 0,
    scopes: wanted ? [...new Set(wanted)] : [allSources],
    audiences: audiences
      .filter(({ sourceId }) => !wanted || wanted.includes(sourceId))
      .map(({ sourceId, trait }) => ({ sourceId, trait })),
    marked: 0,
    userIds,
    ends,
  };
}
