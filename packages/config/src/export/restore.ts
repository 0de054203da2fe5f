/** Writes an exported configuration into the topic, in one transaction. */
import { TailraceError } from '@tailrace/errors';
import type { Kafka, KafkaLog } from '@tailrace/kafka';
import { changeAll } from '../apply.ts';
import { problemsError } from '../file.ts';
import { planChanges, takenWriteKeys, type EntryChange, type PlannedChange } from '../plan.ts';
import type { Configuration } from '../rules/schema.ts';
import type { SecretKeys } from '../secrets/encryption.ts';
import type { BeforeWrite, ConfigSnapshot } from '../topic/editor.ts';
import { checkTopicExists } from '../topic/view.ts';

/** `empty`: only into a topic without entries. `merge`: keeps other entries. `replace`: deletes other entries. */
export type RestoreMode = 'empty' | 'merge' | 'replace';

export interface RestoreOptions {
  readonly mode: RestoreMode;
  /** Returns the changes without writing them. */
  readonly dryRun: boolean;
  /** The current key encrypts the secrets in the topic. */
  readonly secretKeys: SecretKeys;
  readonly log: Pick<KafkaLog, 'warn'>;
  /** See {@link BeforeWrite}: the entries of the audit log. */
  readonly beforeWrite?: BeforeWrite | undefined;
  /** See `EditorOptions`. */
  readonly owner?: string | undefined;
}

/**
 * The entries were valid in the topic that they come from, so references between them are not checked again: the day of a
 * restore is no time to refuse a destination that names a deleted source.
 *
 * @throws TailraceError `conflict` if the topic has entries and the mode is `empty`; `invalid-configuration` if another source
 *   of the topic has one of the write keys; `other-owner`, `secret-key-missing`, `secret-locked`, `topic-missing`,
 *   `transactions-unavailable`, `kafka-unavailable`, `kafka-refused-credentials`
 */
export async function restoreConfiguration(
  kafka: Pick<Kafka, 'follow' | 'listTopics' | 'exclusivePublisher' | 'publisher'>,
  topic: string,
  wanted: Configuration,
  { mode, dryRun, secretKeys, log, beforeWrite, owner }: RestoreOptions,
): Promise<readonly EntryChange[]> {
  await checkTopicExists(kafka, topic);
  const plan = (current: ConfigSnapshot): readonly PlannedChange[] => {
    if (mode === 'empty') checkEmpty(topic, current);
    const problems = mode === 'replace' ? [] : takenWriteKeys(wanted.sources, current.sources());
    if (problems.length > 0) throw problemsError(problems);
    return planChanges(wanted, current, mode === 'replace');
  };
  const editor = { secretKeys, beforeWrite, owner, withoutKey: 'refuse' } as const;
  return changeAll(kafka, topic, plan, { dryRun, log, editor });
}

function checkEmpty(topic: string, current: ConfigSnapshot): void {
  const [sources, destinations] = [current.sources().length, current.destinations().length];
  const notifications = current.notifications().length;
  const unreadable = current.unreadable.size;
  if (sources + destinations + notifications + unreadable === 0) return;
  const more = unreadable > 0 ? `, unreadable entries: ${unreadable}` : '';
  throw new TailraceError(
    'conflict',
    `The topic ${topic} is not empty (sources: ${sources}, destinations: ${destinations}, notifications: ${notifications}${more}). Nothing was changed. ` +
      'Use --merge to keep its other entries, or --replace to delete them; --dry-run shows the changes.',
  );
}
