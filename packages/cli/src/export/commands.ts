import { command, file, flag, required, type Declared } from '../declare.ts';

const sealing =
  'The file is sealed with TAILRACE_EXPORT_PASSPHRASE if it is set, else with TAILRACE_SECRET_KEY. Keep that passphrase ' +
  'or key in another place than the file: the file cannot be opened without it.';

const sealed = { '<file>': 'the export; - reads standard input' };

export const exportCommands: readonly Declared[] = [
  command({
    words: 'config export',
    summary: 'write all sources and destinations into a sealed file',
    description:
      `Write all sources and destinations, with their secrets, into one sealed file.\n\n${sealing}\n\n` +
      'The file is replaced only when the new one is complete. An empty configuration is refused, so that a new cluster ' +
      'does not replace the last good export. packages/cli/README.md lists the data that is not part of it.',
    options: {
      file: required(file('the file to write; - writes to standard output')),
      allowEmpty: flag('also export a configuration without sources and destinations'),
      skipUnreadable: flag('leave out entries that cannot be read'),
    },
    examples: [
      'config export -f tailrace.export',
      'tailrace config export -f - | ssh backup "cat > tailrace.export"',
    ],
    reads: ['kafka', 'passphrase'],
    run: async (values, context) => (await import('./export.ts')).exportConfiguration(values, context),
  }),
  command({
    words: 'config verify',
    summary: 'check that an export can be opened, and list its entries',
    description: 'Check that an export can be opened, and list its entries. Needs no Kafka.',
    arguments: sealed,
    examples: ['config verify tailrace.export'],
    reads: ['secretKeys', 'passphrase'],
    run: async (values, context) => (await import('./import.ts')).verifyExport(values, context),
  }),
  command({
    words: 'config import',
    summary: 'restore an export into a cluster',
    description:
      'Restore an export into a cluster: write all of its entries in one transaction, or none. Secrets are encrypted with ' +
      'TAILRACE_SECRET_KEY, which may be another key than the one of the export.\n\n' +
      'A cluster that has sources or destinations is refused without --merge or --replace. Create the topics first, with ' +
      '"tailrace topics apply".',
    arguments: sealed,
    options: {
      merge: flag('create and update the entries of the export, and keep the others'),
      replace: flag('create and update the entries of the export, and delete the others'),
      dryRun: flag('show the changes without making them'),
    },
    examples: ['config import tailrace.export --dry-run', 'config import tailrace.export'],
    reads: ['kafka', 'passphrase'],
    run: async (values, context) => (await import('./import.ts')).importConfiguration(values, context),
  }),
];
