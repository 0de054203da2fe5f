/** `tailrace apply`: creates, updates and deletes sources and destinations as a file says. */
import {
  applyConfiguration,
  hasSecrets,
  parseConfiguration,
  type ApplyOptions,
  type EntryChange,
} from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { topicNames } from '@tailrace/topology';
import { auditedAs } from '../audit.ts';
import { exitCodes, UsageError, type CommandContext, type Run } from '../command.ts';
import { withKafka } from '../kafka.ts';
import { readText } from '../read-text.ts';
import { mayPrune } from './pruning.ts';
import { referencesOf } from './references.ts';
import { diffOf, lineOf, summaryOf, withoutDifferences } from './changes-text.ts';

interface Values {
  readonly file: string;
  readonly dryRun?: boolean;
  readonly prune?: boolean;
  readonly yes?: boolean;
  readonly all?: boolean;
}

export const applyFile: Run<Values> = async (
  { file, dryRun = false, prune = false, yes = false, all = false },
  context,
) => {
  if (all && !prune) throw new UsageError('--all requires --prune');
  const configuration = parseConfiguration(await read(file, context), {
    fileName: file === '-' ? 'standard input' : file,
    ...referencesOf(context, file),
  });
  const { changes, plainSecrets } = await withKafka(
    context,
    async (kafka, { prefix, owner }, secretKeys, patience) => {
      const apply = (options: Pick<ApplyOptions, 'dryRun' | 'mayDelete'>): Promise<readonly EntryChange[]> =>
        applyConfiguration(kafka, topicNames(prefix).config, configuration, {
          prune,
          secretKeys,
          ...options,
          owner,
          giveUpAfterMs: patience.limitMs - 30_000,
          beforeWrite: auditedAs(topicNames(prefix).audit, 'apply'),
          log: {
            warn(fields, message) {
              context.log.warn(fields, message);
              context.warn(message);
            },
          },
        });
      const mayDelete =
        prune && !dryRun
          ? await mayPrune(context, configuration, await apply({ dryRun: true }), { yes, all })
          : new Set<string>();
      return {
        changes: mayDelete && (await apply({ dryRun, ...(prune && !dryRun && { mayDelete }) })),
        plainSecrets: secretKeys.current === undefined && hasSecrets(configuration),
      };
    },
    { patient: true },
  );
  if (!changes) {
    return { exitCode: exitCodes.failed, text: ['Nothing was changed.'], json: { dryRun, changes: [] } };
  }
  if (plainSecrets && !dryRun) context.warn(plainSecretsWarning);
  return {
    text: [
      ...changes.flatMap(dryRun ? diffOf : lineOf),
      summaryOf(changes, { dryRun, pruneOption: '--prune' }),
    ],
    json: { dryRun, changes: dryRun ? changes : changes.map(withoutDifferences) },
  };
};

const plainSecretsWarning =
  'Secrets were written without encryption: readers of the topic can read them. Set TAILRACE_SECRET_KEY and apply again.';

async function read(file: string, context: CommandContext): Promise<string> {
  try {
    return await readText(file, context);
  } catch (error) {
    throw new TailraceError('invalid-configuration', `${file}: ${(error as Error).message}`);
  }
}
