import type { Command } from 'commander';
import { choice, eventTypes, group, integer, limitOption, notes, type Declare } from '../declare.ts';

export const declareDeadLetters: Declare = (program, action) => {
  const dead = group(program, 'dead').summary('list, show and replay dead letters');

  withFilter(
    dead
      .command('list')
      .summary('list or count dead letters')
      .description(
        'List dead letters, newest first, or count them by destination and reason.\n\n' +
          'A replayed dead letter stays listed and is marked. A delivery that fails again after a replay is ' +
          'another dead letter.',
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
          examples: ['dead replay --destination crm --since 2h', 'dead replay --all --rate 200'],
          reads: ['kafka'],
          times: true,
        }),
      )
      .action(action(async () => (await import('./replay.ts')).replay));
  }
};

function withFilter(command: Command): Command {
  return command
    .option('--destination <id>', 'only this destination')
    .option('--reason <reason>', 'only this reason, such as client-error')
    .addOption(choice('--type <type>', 'only calls of this type', eventTypes))
    .option('--since <time>', 'only dead letters written from this time on')
    .option('--until <time>', 'only dead letters written before this time');
}
