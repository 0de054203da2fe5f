import { apiNotes, choice, group, integer, limitOption, type Declare } from '../declare.ts';

export const declareAudiences: Declare = (program, action) => {
  const audience = group(program, 'audience').summary('sync, list and delete audiences');
  audience
    .command('sync')
    .summary('set the members of an audience from a file')
    .description(
      'Set the members of an audience from a file. Only users who joined or left since the last sync are sent to ' +
        'the destinations, as Identify calls.\n\n' +
        'The file has one member per line: a JSON string, {"userId": "..."}, or CSV with a column userId or a ' +
        'single column.\n\n' +
        'It may be interrupted at any time; the same command with the same file continues, and sends no change twice.',
    )
    .argument('<source>', 'the id of the source')
    .argument('<name>', 'the name of the audience')
    .argument('<file>', 'the members; - reads standard input')
    .addOption(
      choice(
        '--format <format>',
        'format of the file (default: csv for a name that ends in .csv, else ndjson)',
        ['ndjson', 'csv'],
      ),
    )
    .addOption(integer('--rate <n>', 'send at most N changes a second', 1, 1_000_000))
    .option('--allow-empty', 'accept a file without members, which removes all members')
    .addHelpText(
      'after',
      apiNotes(
        'audience sync web vip members.csv',
        'export-members | tailrace audience sync web vip - --format ndjson',
      ),
    )
    .action(action(async () => (await import('./sync.ts')).syncAudience));
  for (const [parent, name] of [
    [audience, 'list'],
    [group(program, 'get'), 'audiences'],
  ] as const) {
    parent
      .command(name)
      .summary('list audiences')
      .description('List audiences with the number of members and the result of the last sync.')
      .argument('[source]', 'the id of a source (default: all sources)')
      .addOption(limitOption())
      .addHelpText('after', apiNotes(`${parent.name()} ${name} web`))
      .action(action(async () => (await import('./list.ts')).listAudiences));
  }
  audience
    .command('delete')
    .summary('delete an audience')
    .description(
      'Delete an audience, and send to the destinations that each member left. Asks for confirmation on a terminal.',
    )
    .argument('<source>', 'the id of the source')
    .argument('<name>', 'the name of the audience')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', apiNotes('audience delete web vip'))
    .action(action(async () => (await import('./delete.ts')).deleteAudience));
};
