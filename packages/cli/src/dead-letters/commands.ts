import type { Command } from 'commander';
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

export const declareDeadLetters: Declare = (program, action) => {
  const dead = group(program, 'dead').summary('list, show and replay dead letters');

  withFilter(
    dead
      .command('list')
      .summary('list or count dead letters')
      .description(
        'List dead letters, newest first, or count them by destination and reason.\n\n' +
          'A replayed dead letter stays listed and is marked. A delivery that fails again after a replay is ' +
          'another dead letter.\n\n' +
          'The whole topic is read from Kafka, also while the control service is down; a filter does not shorten it. ' +
          '"get deliveries --status dead" asks the history of the control service, which answers immediately.',
      ),
  )
    .addOption(limitOption(1_000_000))
    .option('--summary', 'count by destination and reason instead')
    .addHelpText(
      'after',
      notes({
        examples: ['dead list --summary', 'dead list --destination crm --reason client-error --since 2h'],
        reads: ['kafka'],
        times: true,
      }),
    )
    .action(action(async () => (await import('./list.ts')).listDeadLetters));

  dead
    .command('show')
    .summary('show the headers, last responses and body of a dead letter')
    .description(
      'Show the headers, last responses and body of a dead letter.\n\n' +
        'All dead letters of the delivery are shown, oldest first: a delivery that failed again after a replay has ' +
        'several. --raw writes the body of the last one, byte for byte.',
    )
    .argument('<delivery>', 'the id of a delivery, or <partition>/<offset> of a record')
    .option('--raw', 'write only the body, without formatting')
    .addHelpText(
      'after',
      notes({
        examples: ['dead show 5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60', 'dead show 3/1200 --raw'],
        reads: ['kafka'],
      }),
    )
    .action(action(async () => (await import('./show.ts')).showDeadLetter));

  for (const parent of [dead, program]) {
    withFilter(
      parent
        .command('replay')
        .summary(parent === dead ? 'replay dead letters' : 'replay dead letters (same as "dead replay")')
        .description(
          'Replay dead letters: publish each matching one that was not replayed before, once, with the same ' +
            'delivery id and body. All attempts start again, for all URLs.\n\n' +
            'It may be interrupted at any time, also by kill -9; the same command continues and duplicates ' +
            'nothing. Deliveries that fail during the replay are left for the next one. A second replay ends the ' +
            'first.',
        ),
    )
      .option('--all', 'all dead letters; required without a filter')
      .addOption(integer('--rate <n>', 'publish at most N a second', 1, 100_000).default(50))
      .option('--dry-run', 'count the dead letters without replaying them')
      .option('--yes', 'do not ask for confirmation')
      .addHelpText(
        'after',
        notes({
          examples: [
            'dead replay --destination crm --since 2h',
            "dead replay --event 'Order Completed' --user ada",
            'dead replay --all --rate 200',
          ],
          reads: ['kafka'],
          times: true,
        }),
      )
      .action(action(async () => (await import('./replay.ts')).replay));
  }
  declareRecovery(program, action);
};

/** The commands that work through the API, and continue without the command line. */
const declareRecovery: Declare = (program, action) => {
  program
    .command('resend')
    .summary('send a delivery again')
    .description(
      'Send a delivery again, with the same delivery id and body, whether it was delivered or is dead. A receiver that ' +
        'ignores repeats by the delivery id ignores it, if it had accepted it before.',
    )
    .argument('<delivery>', 'the id of the delivery')
    .addHelpText('after', apiNotes('resend 5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60'))
    .action(action(async () => (await import('./recover.ts')).resend));
  group(program, 'recover')
    .summary('replay the failures of a destination')
    .command('destination')
    .summary('replay the failures of a destination since a time')
    .description(
      'Replay the failures of a destination since a time: all its dead letters that were not replayed. The control ' +
        'service does it; Ctrl-C ends only the wait.',
    )
    .argument('<id>', 'the id of the destination')
    .requiredOption('--since <time>', 'dead letters written from this time on')
    .option('--until <time>', 'only dead letters written before this time')
    .addOption(integer('--rate <n>', 'publish at most N a second', 1, 100_000).default(50))
    .option('--dry-run', 'count the dead letters without replaying them')
    .option('--wait', 'wait until it is done')
    .addHelpText(
      'after',
      notes({
        examples: ['recover destination crm --since 2h', 'recover destination crm --since 2h --wait'],
        reads: ['api'],
        times: true,
      }),
    )
    .action(action(async () => (await import('./recover.ts')).recoverDestination));
  group(program, 'interrupt')
    .summary('interrupt a replay of the control service')
    .command('replay')
    .summary('interrupt a replay of the control service')
    .description('Interrupt a replay of the control service, after the records in flight.')
    .argument('<id>', 'the id of the replay')
    .addHelpText('after', apiNotes('interrupt replay 5f0c6a8e-1d9b-4a0c-8f3e-2b7d9c1e4a60'))
    .action(action(async () => (await import('./recover.ts')).interruptReplay));
  const get = group(program, 'get');
  get
    .command('replays')
    .summary('list the replays of the control service, newest first')
    .addOption(limitOption())
    .addHelpText('after', apiNotes('get replays'))
    .action(action(async () => (await import('./recover.ts')).listReplays));
  get
    .command('replay')
    .summary('show the progress of a replay of the control service')
    .argument('<id>', 'the id of the replay')
    .addHelpText('after', apiNotes('get replay 5f0c6a8e-1d9b-4a0c-8f3e-2b7d9c1e4a60'))
    .action(action(async () => (await import('./recover.ts')).getReplay));
};

function withFilter(command: Command): Command {
  return command
    .option('--destination <id>', 'only this destination')
    .option('--reason <reason>', 'only this reason, such as client-error')
    .addOption(choice('--type <type>', 'only calls of this type', eventTypes))
    .option('--event <event>', 'only this track event')
    .option('--user <user>', 'only events of this user')
    .option('--since <time>', 'only dead letters written from this time on')
    .option('--until <time>', 'only dead letters written before this time');
}
