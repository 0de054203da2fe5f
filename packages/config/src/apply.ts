/** Applies a configuration to the topic, writing only the entries that differ. */
import { TailraceError } from '@tailrace/errors';
import type { Kafka, KafkaLog } from '@tailrace/kafka';
import { problemsError, type ParsedConfiguration } from './file.ts';
import {
  changesOf,
  conflicts,
  decisionOf,
  planChanges,
  type EntryChange,
  type PlannedChange,
} from './plan.ts';
import { checkConfiguration } from './rules/check.ts';
import type { Configuration } from './rules/schema.ts';
import { shortWriteKeys } from './rules/source/write-key.ts';
import type { SecretKeys } from './secrets/encryption.ts';
import { notificationSecretsOf } from './secrets/notification.ts';
import { secretsOf } from './secrets/secrets.ts';
import {
  openConfigEditor,
  type BeforeWrite,
  type ConfigSnapshot,
  type EditorOptions,
} from './topic/editor.ts';
import { checkTopicExists } from './topic/view.ts';

export interface ApplyOptions {
  /** Also deletes entries that the configuration does not contain. Default false. */
  readonly prune?: boolean | undefined;
  /**
   * With `prune`, the entries that may be deleted, as `source/web`: those that were shown to the user. Where another one would be,
   * nothing is changed. By default all.
   */
  readonly mayDelete?: ReadonlySet<string> | undefined;
  /** Returns the changes without writing them. Default false. */
  readonly dryRun?: boolean | undefined;
  /** Without a current key, secrets are written in plain text. */
  readonly secretKeys?: SecretKeys | undefined;
  readonly log?: Pick<KafkaLog, 'warn'> | undefined;
  /** How long to wait for a cluster that is slow. Default 15 s. */
  readonly giveUpAfterMs?: number | undefined;
  /** See {@link BeforeWrite}: the entries of the audit log. */
  readonly beforeWrite?: BeforeWrite | undefined;
  /** See `EditorOptions`. */
  readonly owner?: string | undefined;
}

/** A configuration, with the places of its fields if it was read from a file. */
export type WantedConfiguration = Configuration & Partial<Pick<ParsedConfiguration, 'placeOf'>>;

/**
 * Applies `wanted` to the configuration topic `topic`. Resolves with the outcome of each entry once
 * everything is acknowledged.
 *
 * @throws TailraceError `invalid-configuration` with every problem, before anything is written;
 *   `conflict` (see `mayDelete`); `other-owner`, `topic-missing`, `kafka-unavailable`, `kafka-refused-credentials`; `secret-locked` if secrets are encrypted and no
 *   current key is given
 */
export async function applyConfiguration(
  kafka: Pick<Kafka, 'follow' | 'listTopics' | 'exclusivePublisher' | 'publisher'>,
  topic: string,
  wanted: WantedConfiguration,
  {
    prune = false,
    mayDelete,
    dryRun = false,
    secretKeys = {},
    log = { warn: () => undefined },
    giveUpAfterMs,
    beforeWrite,
    owner,
  }: ApplyOptions = {},
): Promise<readonly EntryChange[]> {
  const { sources, destinations, notifications, placeOf } = wanted;
  const given = { sources, destinations, ...(notifications && { notifications }) };
  const checked = checkConfiguration(given);
  if ('problems' in checked) throw problemsError(checked.problems, placeOf);
  const { value } = checked;
  await checkTopicExists(kafka, topic);

  const plan = (current: ConfigSnapshot): PlannedChange[] => {
    const problems = [
      ...conflicts(value, {
        sources: prune ? [] : current.sources(),
        destinations: prune ? [] : current.destinations(),
      }),
      ...value.sources.flatMap((source, index) =>
        shortWriteKeys(source, current.source(source.id), ['sources', index]),
      ),
    ];
    if (problems.length > 0) throw problemsError(problems, placeOf);
    const planned = planChanges(value, current, prune);
    const others = planned.filter(
      ({ outcome, kind, id }) => outcome === 'deleted' && mayDelete?.has(`${kind}/${id}`) === false,
    );
    if (others.length === 0) return planned;
    const listed = others.map(({ kind, id }) => `${kind}/${id}`).join(', ');
    throw new TailraceError(
      'conflict',
      `Meanwhile ${listed} was created and would be deleted too. Apply the file again.`,
    );
  };
  return changeAll(kafka, topic, plan, {
    log,
    dryRun,
    editor: {
      secretKeys,
      withoutKey: 'write',
      withoutTransactions: 'write',
      mayReplaceLocked: true,
      giveUpAfterMs,
      beforeWrite,
      owner,
    },
  });
}

/** Whether a secret of the configuration would be written in plain text without a key. */
export function hasSecrets({ destinations, notifications = [] }: Configuration): boolean {
  const secrets = [destinations.map(secretsOf), notifications.map(notificationSecretsOf)].flat();
  return secrets.some((found) => !found.next().done);
}

export interface ChangeAllOptions {
  /** Returns the changes without writing them. */
  readonly dryRun: boolean;
  readonly log: Pick<KafkaLog, 'warn'>;
  readonly editor: EditorOptions;
}

/** Writes what `plan` makes of the current configuration, in one transaction, and resolves with the outcome of each entry. */
export async function changeAll(
  kafka: Parameters<typeof openConfigEditor>[0],
  topic: string,
  plan: (current: ConfigSnapshot) => readonly PlannedChange[],
  { dryRun, log, editor: options }: ChangeAllOptions,
): Promise<readonly EntryChange[]> {
  const editor = await openConfigEditor(kafka, topic, log, options);
  try {
    if (dryRun) return changesOf(plan(editor));
    const { result } = await editor.change((current) => decisionOf(plan(current)));
    return changesOf(result);
  } finally {
    await editor.close();
  }
}
