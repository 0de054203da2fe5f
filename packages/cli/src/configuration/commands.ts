/** Commands that apply, show, create and test sources and destinations. `change-commands.ts` has the rest. */
import {
  choice,
  eventTypes,
  group,
  integer,
  limitOption,
  notes,
  repeatable,
  type Declare,
} from '../declare.ts';
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
        'Entries that are in Kafka and not in the file are kept, unless --prune is given.',
    )
    .requiredOption('-f, --file <file>', 'the configuration; - reads standard input')
    .option('--dry-run', 'show the changes without making them')
    .option('--prune', 'delete entries that are not in the file')
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
    .addHelpText('after', notes({ examples: ['get catalog', 'get catalog Webhooks'], reads: ['api'] }))
    .action(action(async () => (await import('./get.ts')).getCatalog));
  for (const { kind, example } of [
    { kind: 'source', example: 'web' },
    { kind: 'destination', example: 'crm' },
  ] as const) {
    get
      .command(`${kind}s`)
      .summary(`list ${kind}s`)
      .description(`List ${kind}s.`)
      .addOption(limitOption())
      .addHelpText(
        'after',
        notes({ examples: [`get ${kind}s`, `get ${kind}s --output json`], reads: ['api'] }),
      )
      .action(action(async () => (await import('./get.ts')).listEntries(kind)));
    get
      .command(kind)
      .summary(`show a ${kind}`)
      .description(`Show a ${kind} as YAML, in the format of "tailrace apply". Secrets are not shown.`)
      .argument('<id>', `the id of the ${kind}`)
      .addHelpText('after', notes({ examples: [`get ${kind} ${example}`], reads: ['api'] }))
      .action(action(async () => (await import('./get.ts')).getEntry(kind)));
  }

  const create = group(program, 'create').summary('create a source, a destination or a write key');
  fromFile(
    create
      .command('source')
      .summary('create a source and its write key')
      .description(
        'Create a source and its write key. Clients need the write key to send calls; it is in the result.',
      )
      .option('--id <id>', 'the id (default: generated)')
      .option('--name <name>', 'a display name')
      .option('--disabled', 'create it disabled')
      .addOption(repeatable('--write-key <key>', 'a write key (default: generated)'))
      .addOption(repeatable('--block <event>', 'a track event not to forward'))
      .addOption(integer('--rate-limit <n>', 'allow at most N calls a second', 1, 1_000_000)),
  )
    .addHelpText(
      'after',
      notes({
        examples: [
          'create source --id web --name Website',
          "create source --id app --write-key wk_app --block 'Debug Event'",
          'create source -f source.yaml',
        ],
        reads: ['api'],
      }),
    )
    .action(action(async () => (await import('./create-source.ts')).createSource));
  fromFile(
    create
      .command('destination')
      .summary('create a destination')
      .description(
        'Create a destination.\n\n' +
          'Every --header is sent to every --url; use --file for different headers.\n\n' +
          'Other users of the machine can see command lines, and the shell keeps them in its history. Therefore ' +
          '--secret and header values accept env:NAME, the value of an environment variable; --secret also ' +
          'accepts -, the first line of standard input.',
      )
      .option('--id <id>', 'the id (default: generated)')
      .option('--name <name>', 'a display name')
      .option('--disabled', 'create it disabled')
      .option('--type <type>', 'a type of "tailrace get catalog" (default: Webhooks)')
      .addOption(repeatable('--url <url>', 'a webhook URL; at most 5'))
      .addOption(repeatable('--header <header>', "a request header, 'Name: value'; at most 5"))
      .addOption(repeatable('--secret-header <header>', 'a header whose value is encrypted and never shown'))
      .option('--secret <secret>', 'the key that signs requests')
      .addOption(repeatable('--source <id>', 'a source to forward'))
      .addOption(integer('--rate-limit <n>', 'send at most N requests a second', 1, 1_000_000))
      .addOption(
        choice('--ordering <ordering>', 'user: deliver the events of a user in order', ['none', 'user']),
      ),
  )
    .addHelpText(
      'after',
      notes({
        examples: [
          'create destination --id crm --url https://crm.example.com/hook --source web \\\n' +
            '      --secret env:CRM_SECRET',
          'create destination --url https://a.example.com --url https://b.example.com \\\n' +
            "      --header 'X-Team: growth'",
          'create destination --url https://erp.example.com \\\n' +
            "      --secret-header 'Authorization: env:ERP_TOKEN'",
          'create destination -f destination.yaml',
        ],
        reads: ['api'],
      }),
    )
    .action(action(async () => (await import('./create-destination.ts')).createDestination));

  program
    .command('test')
    .summary('send a sample event to a destination, and show the response')
    .description(
      'Send a sample event to a destination, and show the response.\n\n' +
        'Each URL gets one request. The sample is not counted, kept or retried. Exits with 1 if no URL answers with 2xx.',
    )
    .argument('<destination>', 'the id of the destination')
    .addOption(choice('--type <type>', 'the type of the sample (default: track)', eventTypes))
    .addOption(integer('--webhook <n>', 'send only to the Nth URL, counted from 1', 1, 5))
    .addHelpText(
      'after',
      notes({
        examples: ['test crm', 'test crm --type identify', 'test crm --type delete --webhook 1'],
        reads: ['api'],
      }),
    )
    .action(action(async () => (await import('./test-event.ts')).testDestination));
};

/** Adds --file, which replaces all other options. */
function fromFile(command: Command): Command {
  const others = command.options.map((option) => option.attributeName());
  const description = 'read the entry from a YAML or JSON file instead of options; - reads standard input';
  return command.addOption(new Option('-f, --file <file>', description).conflicts(others));
}
