import { TailraceError } from '@tailrace/errors';

/**
 * Checks that the topics a service cannot work without exist.
 *
 * @param sameSettings the settings that `topics apply` must share with the service, besides TAILRACE_TOPIC_PREFIX
 * @throws TailraceError `topic-missing`, which names all topics that are missing
 */
export function requireTopics(
  existing: readonly string[],
  needed: readonly string[],
  sameSettings: readonly string[] = [],
): void {
  const missing = needed.filter((topic) => !existing.includes(topic));
  if (missing.length === 0) return;
  throw new TailraceError(
    'topic-missing',
    `These topics do not exist: ${missing.join(', ')}. Create them with \`npx tailrace topics apply\`, ` +
      `with the same ${[...sameSettings, 'TAILRACE_TOPIC_PREFIX'].join(' and ')} as here.`,
  );
}
