/** Commands that apply, show, create and test sources and destinations. `change-commands.ts` has the rest. */
import {
  apiNotes,
  choice,
  eventTypes,
  group,
  integer,
  limitOption,
  notes,
  type Declare,
} from '../declare.ts';
import { destinationFields, sourceFields } from '../entry-options.ts';
import type { Command } from 'commander';
import { Option } from 'commander';

export const declareConfiguration: Declare = (program, action) => {
  program
    .command('apply')
    .summary('create, update and delete sources and destinations as a file says')
    .description(
      'Create, update and delete sources and destinations as a file says.\n\n' +
        'The file is YAML or JSON; packages/config/README.md describes it. All problems of the file are reported ' +
        'together, and nothing is changed if there is one. --dry-run shows the changed fields, before and after, ' +
        'except secrets, write keys, header values and URL queries.\n\n' +
        'Where a secret may stand, env:NAME is the value of an environment variable and file:PATH the content of a ' +
        'file, whose path is relative to the configuration. Write literal:TEXT for a secret that begins with one of ' +
        'these words. The mask that "tailrace get" shows in place of a secret is refused.\n\n' +
        'Entries that are in Kafka and not in the file are kept, unless --prune is given. --prune asks on a terminal, ' +
        'and needs --yes elsewhere. Where the file has no source, or no destination, it deletes all of them only with --all.',
    )
    .requiredOption('-f, --file <file>', 'the configuration; - reads standard input')
    .option('--dry-run', 'show the changes without making them')
    .option('--prune', 'delete entries that are not in the file')
    .option('--yes', 'with --prune, do not ask for confirmation')
    .option('--all', 'with --prune, delete all sources where the file has none, and likewise destinations')
    .addHelpText(
      'after',
      notes({
        examples: [
          'apply -f tailrace.yaml',
          'apply -f tailrace.yaml --dry-run --prune',
          'apply -f - < tailrace.yaml',
        ],
        reads: ['kafka'],
      }),
    )
    .action(action(async () => (await import('./apply.ts')).applyFile));

  const get = group(program, 'get').summary('list or show sources, destinations, deliveries and more');
  get
    .command('catalog')
    .summary('list the destination types, or show one')
    .description('List the destination types, or show one with the JSON Schema of its settings.')
    .argument('[type]', 'the type to show')
    .addHelpText('after', apiNotes('get catalog', 'get catalog Webhooks'))
    .action(action(async () => (await import('./get.ts')).getCatalog));
  for (const { kind, example } of [
    { kind: 'source', example: 'web' },
    { kind: 'destination', example: 'crm' },
  ] as const) {
    get
      .command(`${kind}s`)
      .summary(`list ${kind}s`)
      .description(
        `List ${kind}s. --output yaml writes a file for "tailrace apply", with env:NAME in place of each secret.`,
      )
      .addOption(limitOption())
      .addHelpText('after', apiNotes(`get ${kind}s`, `get ${kind}s --limit 1000 --output yaml`))
      .action(action(async () => (await import('./get.ts')).listEntries(kind)));
    get
      .command(kind)
      .summary(`show a ${kind}`)
      .description(
        `Show a ${kind} as a file for "tailrace apply". Secrets are not shown: the file has env:NAME in their ` +
          'place, and a comment that lists the variables.',
      )
      .argument('<id>', `the id of the ${kind}`)
      .addHelpText('after', apiNotes(`get ${kind} ${example}`))
      .action(action(async () => (await import('./get.ts')).getEntry(kind)));
  }

  const create = group(program, 'create').summary('create a source, a destination, a write key or a token');
  fromFile(
    sourceFields(
      create
        .command('source')
        .summary('create a source and its write key')
        .description(
          'Create a source and its write key. Clients need the write key to send calls; it is in the result.',
        )
        .option('--id <id>', 'the id (default: generated)')
        .option('--disabled', 'create it disabled'),
      'create',
    ),
  )
    .addHelpText(
      'after',
      apiNotes(
        'create source --id web --name Website',
        "create source --id app --write-key wk_app --block 'Debug Event'",
        'create source -f source.yaml',
      ),
    )
    .action(action(async () => (await import('./create-source.ts')).createSource));
  fromFile(
    destinationFields(
      create
        .command('destination')
        .summary('create a destination')
        .description(
          'Create a destination.\n\n' +
            'Every --header is sent to every --url; use --file for different headers.\n\n' +
            'Other users of the machine can see command lines, and the shell keeps them in its history. Therefore ' +
            '--secret and header values accept env:NAME, the value of an environment variable, and file:PATH, the ' +
            'content of a file; --secret also accepts -, the first line of standard input. Write literal:TEXT for a ' +
            'value that begins with one of these words.',
        )
        .option('--id <id>', 'the id (default: generated)')
        .option('--disabled', 'create it disabled')
        .option('--type <type>', 'a type of "tailrace get catalog" (default: Webhooks)'),
      'create',
    ),
  )
    .addHelpText(
      'after',
      apiNotes(
        'create destination --id crm --url https://crm.example.com/hook --source web \\\n' +
          '      --secret env:CRM_SECRET',
        'create destination --url https://a.example.com --url https://b.example.com \\\n' +
          "      --header 'X-Team: growth'",
        'create destination --url https://erp.example.com \\\n' +
          "      --secret-header 'Authorization: env:ERP_TOKEN'",
        'create destination -f destination.yaml',
      ),
    )
    .action(action(async () => (await import('./create-destination.ts')).createDestination));

  program
    .command('test')
    .summary('send a sample event to a destination, or try its filter')
    .description(
      'Send a sample event to a destination, and show the response.\n\n' +
        'Each URL gets one request. The sample is not counted, kept or retried. Exits with 1 if no URL answers with 2xx.\n\n' +
        'With --filter nothing is sent: the filter of the destination, or the one in a file, is tried on the sample, or on the ' +
        'call in a file. Files are YAML or JSON; - reads standard input. Exits with 1 if the call does not pass.',
    )
    .argument('<destination>', 'the id of the destination')
    .addOption(choice('--type <type>', 'the type of the sample (default: track)', eventTypes))
    .addOption(integer('--webhook <n>', 'send only to the Nth URL, counted from 1', 1, 5))
    .option('--filter [file]', 'try the filter of the destination, or that in a file, and send nothing')
    .option('--call <file>', 'with --filter: try it on this call')
    .addHelpText(
      'after',
      apiNotes(
        'test crm',
        'test crm --type identify',
        'test crm --type delete --webhook 1',
        'test crm --filter',
        'test crm --filter filter.yaml --call call.json',
      ),
    )
    .action(action(async () => (await import('./test-event.ts')).testDestination));
};

/** Adds --file, which replaces all other options. */
function fromFile(command: Command): Command {
  const others = command.options.map((option) => option.attributeName());
  const description = 'read the entry from a YAML or JSON file instead of options; - reads standard input';
  return command.addOption(new Option('-f, --file <file>', description).conflicts(others));
}
