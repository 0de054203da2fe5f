import { group, limitOption, notes, repeatable, type Declare } from '../declare.ts';

export const declareUsers: Declare = (program, action) => {
  group(program, 'user')
    .summary('delete users at the receivers')
    .command('delete')
    .summary('ask the receivers to delete users')
    .description(
      'Ask the receivers to delete users: send a delete notification for each user to each enabled destination of ' +
        'the sources. Asks for confirmation on a terminal.\n\n' +
        'With --wait it ends when every notification is delivered or refused, and exits with 1 if one was ' +
        'refused. Ctrl-C ends only the wait, with 130; the deletion continues.\n\n' +
        'Running it again with the same --request repeats nothing.',
    )
    .argument(
      '<users...>',
      'the ids of the users, at most 1,000; put -- before an id that begins with a dash',
    )
    .addOption(repeatable('--source <id>', 'only this source'))
    .option('--request <id>', 'the id of the request (default: generated)')
    .option('--wait', 'wait until it is done')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      notes({
        examples: ['user delete ada', 'user delete ada grace --source web --wait', 'user delete -- -42'],
        reads: ['api'],
      }),
    )
    .action(action(async () => (await import('./delete.ts')).deleteUsers));

  const get = group(program, 'get');
  get
    .command('deletions')
    .summary('list the requests to delete users')
    .description('List the requests to delete users.')
    .addOption(limitOption())
    .addHelpText('after', notes({ examples: ['get deletions'], reads: ['api'] }))
    .action(action(async () => (await import('./deletions.ts')).listDeletions));
  get
    .command('deletion')
    .summary('show the progress of a request to delete users')
    .description('Show the progress of a request to delete users.')
    .argument('<id>', 'the id of the request')
    .addHelpText(
      'after',
      notes({ examples: ['get deletion 5f0c6a8e-1d9b-4a0c-8f3e-2b7d9c1e4a60'], reads: ['api'] }),
    )
    .action(action(async () => (await import('./deletions.ts')).getDeletion));
};
