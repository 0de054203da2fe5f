/** Commands that change fields of sources and destinations: `update` and `edit`. */
import type { Command } from 'commander';
import { apiNotes, group, repeatable, type Declare } from '../declare.ts';
import { destinationFields, sourceFields } from '../entry-options.ts';

const rest =
  '--set changes any field by its path, as "tailrace get -o json" shows it: --set settings.traceparent=true. The value is JSON ' +
  'or else a text; null removes the field, as --unset does. env:NAME and file:PATH stand for a value that must not be ' +
  'on the command line. Fields that are not named stay, secrets too.';

export const declareUpdates: Declare = (program, action) => {
  const update = group(program, 'update').summary('change fields of a source or a destination');
  anyField(
    sourceFields(
      update
        .command('source')
        .summary('change fields of a source')
        .description(`Change fields of a source.\n\n${rest}`)
        .argument('<id>', 'the id of the source'),
      'update',
    ),
  )
    .addHelpText(
      'after',
      apiNotes(
        'update source web --name Website',
        'update source web --rate-limit 500',
        'update source web --unset rateLimit',
      ),
    )
    .action(action(async () => (await import('./update.ts')).updateSource));
  anyField(
    destinationFields(
      update
        .command('destination')
        .summary('change fields of a destination')
        .description(
          'Change fields of a destination.\n\n' +
            'The headers of --header and --secret-header replace those of every URL. A URL that stays keeps its headers otherwise.\n\n' +
            rest,
        )
        .argument('<id>', 'the id of the destination'),
      'update',
    ),
  )
    .addHelpText(
      'after',
      apiNotes(
        'update destination crm --url https://crm.example.com/v2/hook',
        'update destination crm --rate-limit 50 --ordering user',
        'update destination crm --set settings.standardWebhooks=true --unset name',
        "update destination crm --set 'settings.webhooks[0].headers.X-Team=sales'",
      ),
    )
    .action(action(async () => (await import('./update.ts')).updateDestination));

  const edit = group(program, 'edit').summary('edit a source or a destination in $EDITOR');
  for (const { kind, id } of [
    { kind: 'source', id: 'web' },
    { kind: 'destination', id: 'crm' },
  ] as const) {
    edit
      .command(kind)
      .summary(`edit a ${kind} in $EDITOR`)
      .description(
        `Edit a ${kind} as YAML in the editor that VISUAL or EDITOR names. An unchanged or empty file changes nothing. An invalid one ` +
          'is opened again with the problems as a comment, and so is the present version where somebody else changed it meanwhile. ' +
          '******** keeps a secret.',
      )
      .argument('<id>', `the id of the ${kind}`)
      .addHelpText('after', apiNotes(`EDITOR=nano tailrace edit ${kind} ${id}`))
      .action(action(async () => (await import('./edit.ts')).editEntry(kind)));
  }
};

function anyField(command: Command): Command {
  return command
    .addOption(repeatable('--set <field=value>', 'set any field'))
    .addOption(repeatable('--unset <field>', 'remove a field'));
}
