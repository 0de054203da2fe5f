import { apiNotes, group, limitOption, repeatable, type Declare } from '../declare.ts';

export const declareUsers: Declare = (program, action) => {
  const user = group(program, 'user').summary('delete and suppress users');
  user
    .command('delete')
    .summary('ask the receivers to delete users')
    .description(
      'Ask the receivers to delete users: send a delete notification for each user to each enabled destination of ' +
        'the sources. Calls of the users accepted before are not sent any more, and they leave the audiences. ' +
        'Asks for confirmation on a terminal.\n\n' +
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
      apiNotes('user delete ada', 'user delete ada grace --source web --wait', 'user delete -- -42'),
    )
    .action(action(async () => (await import('./delete.ts')).deleteUsers));

  user
    .command('undelete')
    .summary('lift a deletion')
    .description(
      'Lift a deletion: what the users did before it may be sent again, for example by a replay. Nothing is brought ' +
        'back by this alone.',
    )
    .argument('<request>', 'the id of the request, as in "get deletions"')
    .addHelpText('after', apiNotes('user undelete gdpr-17'))
    .action(action(async () => (await import('./deletions.ts')).undelete));
  const users = ['<users...>', 'the ids of the users, at most 1,000'] as const;
  user
    .command('suppress')
    .summary('send no later calls of users')
    .description(
      'Send no later calls of the users to any destination, until "user unsuppress". Calls that were accepted before ' +
        'are sent; to stop them too, use "user delete".',
    )
    .argument(...users)
    .addHelpText('after', apiNotes('user suppress ada grace'))
    .action(action(async () => (await import('./suppressions.ts')).suppressUsers));
  user
    .command('unsuppress')
    .summary('send later calls of suppressed users again')
    .description('Send later calls of suppressed users again. Those that were refused are not sent.')
    .argument(...users)
    .addHelpText('after', apiNotes('user unsuppress ada'))
    .action(action(async () => (await import('./suppressions.ts')).unsuppressUsers));

  const get = group(program, 'get');
  get
    .command('suppressions')
    .summary('list the suppressed users')
    .description('List the suppressed users, whose calls are not sent.')
    .addOption(limitOption())
    .addHelpText('after', apiNotes('get suppressions --limit 200'))
    .action(action(async () => (await import('./suppressions.ts')).listSuppressions));
  get
    .command('suppression')
    .summary('show since when a user is suppressed')
    .description('Show since when a user is suppressed. Exits with 1 if the user is not.')
    .argument('<user>', 'the id of the user')
    .addHelpText('after', apiNotes('get suppression ada'))
    .action(action(async () => (await import('./suppressions.ts')).getSuppression));
  get
    .command('deletions')
    .summary('list the requests to delete users')
    .addOption(limitOption())
    .addHelpText('after', apiNotes('get deletions'))
    .action(action(async () => (await import('./deletions.ts')).listDeletions));
  get
    .command('deletion')
    .summary('show the progress of a request to delete users')
    .argument('<id>', 'the id of the request')
    .addHelpText('after', apiNotes('get deletion 5f0c6a8e-1d9b-4a0c-8f3e-2b7d9c1e4a60'))
    .action(action(async () => (await import('./deletions.ts')).getDeletion));
};
