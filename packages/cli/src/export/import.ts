/** `tailrace config import` and `config verify`: open an export, and write it into a cluster. */
import { openExport, restoreConfiguration, type ExportHeader, type SealSecrets } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { readSettings } from '@tailrace/service';
import { topicNames } from '@tailrace/topology';
import { auditedAs } from '../audit.ts';
import { UsageError, type CommandContext, type Run } from '../command.ts';
import { diffOf, lineOf, summaryOf, withoutDifferences } from '../configuration/changes-text.ts';
import { withKafka } from '../kafka.ts';
import { readText } from '../read-text.ts';
import { exportSettings, secretKeySettings } from '../settings.ts';
import { countOf, printable } from '../terminal/table.ts';

interface ImportValues {
  readonly file: string;
  readonly merge?: boolean;
  readonly replace?: boolean;
  readonly dryRun?: boolean;
}

export const importConfiguration: Run<ImportValues> = async (
  { file, merge = false, replace = false, dryRun = false },
  context,
) => {
  if (merge && replace) throw new UsageError('--merge and --replace exclude each other');
  const mode = merge ? 'merge' : replace ? 'replace' : 'empty';
  const { passphrase } = readSettings(context.env, exportSettings);
  const { header, changes } = await withKafka(context, async (kafka, { prefix, owner }, secretKeys) => {
    const opened = await open(file, context, { keys: secretKeys, passphrase });
    const changes = await restoreConfiguration(kafka, topicNames(prefix).config, opened.configuration, {
      mode,
      dryRun,
      secretKeys,
      beforeWrite: auditedAs(topicNames(prefix).audit, 'config import'),
      log: context.log,
      owner,
    });
    return { header: opened.header, changes };
  });
  return {
    text: [
      ...originOf(header),
      ...changes.flatMap(dryRun ? diffOf : lineOf),
      summaryOf(changes, { dryRun, pruneOption: '--replace' }),
    ],
    json: { export: header, dryRun, changes: dryRun ? changes : changes.map(withoutDifferences) },
  };
};

export const verifyExport: Run<{ readonly file: string }> = async ({ file }, context) => {
  const { passphrase } = readSettings(context.env, exportSettings);
  const { secretKeys } = readSettings(context.env, secretKeySettings);
  const { header, configuration } = await open(file, context, { keys: secretKeys, passphrase });
  const sources = configuration.sources.map(({ id }) => id);
  const destinations = configuration.destinations.map(({ id }) => id);
  return {
    text: [
      ...originOf(header),
      ...sources.map((id) => `source/${id}`),
      ...destinations.map((id) => `destination/${id}`),
      'The export is complete, and these settings open it.',
    ],
    json: { export: header, sources, destinations },
  };
};

async function open(file: string, context: CommandContext, secrets: SealSecrets) {
  let text: string;
  try {
    text = await readText(file, context);
  } catch (error) {
    throw new TailraceError('invalid-export', `${file} cannot be read: ${(error as Error).message}`);
  }
  return openExport(text, secrets);
}

function originOf({ createdAt, cluster, prefix, sources, destinations }: ExportHeader): string[] {
  const counts = `${countOf(sources, 'source')}, ${countOf(destinations, 'destination')}`;
  return [printable(`Export of ${createdAt} from cluster ${cluster}, prefix ${prefix}: ${counts}.`)];
}
