/** Commands for tokens of the API, and for the audit log. */
import { apiNotes, choice, group, limitOption, notes, repeatable, type Declare } from '../declare.ts';

export const declareAccess: Declare = (program, action) => {
  group(program, 'create')
    .command('token')
    .summary('create a token of the API')
    .description(
      'Create a token of the API, and show it. It is not stored and cannot be shown again.\n\n' +
        'read: sees configuration and history, with masks for write keys, header values, URL queries and the values of ' +
        'bodies. write: also changes sources, destinations, audiences and deliveries. admin: also manages tokens and keys.\n\n' +
        'With --source or --destination it reaches only these, and the deliveries that belong to them.',
    )
    .requiredOption('--name <name>', 'a name, which the audit log shows')
    .addOption(choice('--scope <scope>', 'what it allows', ['read', 'write', 'admin']).default('read'))
    .addOption(repeatable('--source <id>', 'a source that it reaches'))
    .addOption(repeatable('--destination <id>', 'a destination that it reaches'))
    .option('--expires <time>', 'a duration from now (90d), or a time (2027-01-31); by default never')
    .addHelpText(
      'after',
      apiNotes(
        'create token --name dashboard --expires 90d',
        'create token --name crm-team --scope write --destination crm',
      ),
    )
    .action(action(async () => (await import('./tokens.ts')).createToken));
  const get = group(program, 'get');
  get
    .command('tokens')
    .summary('list the tokens of the API')
    .description(
      'List the tokens of the API, without those of TAILRACE_API_TOKEN and TAILRACE_API_READ_TOKEN.',
    )
    .addOption(limitOption())
    .addHelpText('after', apiNotes('get tokens'))
    .action(action(async () => (await import('./tokens.ts')).listTokens));
  group(program, 'revoke')
    .summary('revoke a token of the API')
    .command('token')
    .summary('revoke a token of the API')
    .description(
      'Revoke a token of the API. All instances refuse it within two seconds, and streams that it opened end. Asks for ' +
        'confirmation on a terminal.',
    )
    .argument('<token>', 'its id or its name')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', apiNotes('revoke token dashboard'))
    .action(action(async () => (await import('./tokens.ts')).revokeToken));
  get
    .command('audit')
    .summary('list who changed what')
    .description(
      'List who changed what, newest first: changes, reads of bodies and refused requests of the last 90 days, over the API and by ' +
        'commands on Kafka. --output json has the values before and after.',
    )
    .option('--action <action>', 'only this action, such as destination.update')
    .option('--target <target>', 'only this target, such as destination/crm')
    .option('--actor <name>', 'only this token, setting or user')
    .addOption(choice('--outcome <outcome>', 'only requests with this outcome', ['done', 'refused']))
    .option('--since <time>', 'only entries from this time on')
    .option('--until <time>', 'only entries before this time')
    .addOption(limitOption())
    .addHelpText(
      'after',
      notes({
        examples: ['get audit --since 2h', 'get audit --target destination/crm --output json'],
        reads: ['api'],
        times: true,
      }),
    )
    .action(action(async () => (await import('./audit-log.ts')).listAudit));
};
