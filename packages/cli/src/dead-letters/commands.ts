/** Commands for dead letters that work on Kafka. */
import { command, flag, limit, type Declared } from '../declare.ts';
import { filterOptions, replayOptions } from './options.ts';

export const deadLetterCommands: readonly Declared[] = [
  command({
    words: 'dead list',
    summary: 'list or count dead letters',
    description:
      'List dead letters, newest first, or count them by destination and reason.\n\n' +
      'A replayed dead letter stays listed and is marked. A delivery that fails again after a replay is ' +
      'another dead letter.\n\n' +
      'The whole topic is read from Kafka, also while the control service is down; a filter does not shorten it. ' +
      '"get deliveries --status dead" asks the history of the control service, which answers immediately.',
    options: {
      ...filterOptions,
      ...limit(1_000_000),
      summary: flag('count by destination and reason instead'),
    },
    examples: ['dead list --summary', 'dead list --destination crm --reason client-error --since 2h'],
    reads: ['kafka'],
    run: async (values, context) => (await import('./list.ts')).listDeadLetters(values, context),
  }),
  command({
    words: 'dead show',
    summary: 'show the headers, last responses and body of a dead letter',
    description:
      'Show the headers, last responses and body of a dead letter.\n\n' +
      'All dead letters of the delivery are shown, oldest first: a delivery that failed again after a replay has ' +
      'several. --raw writes the body of the last one, byte for byte.',
    arguments: { '<delivery>': 'the id of a delivery, or <partition>/<offset> of a record' },
    options: { raw: flag('write only the body, without formatting') },
    examples: ['dead show 5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60', 'dead show 3/1200 --raw'],
    reads: ['kafka'],
    run: async (values, context) => (await import('./show.ts')).showDeadLetter(values, context),
  }),
  ...['dead replay', 'replay'].map((words) =>
    command({
      words,
      summary: words === 'replay' ? 'replay dead letters (same as "dead replay")' : 'replay dead letters',
      description:
        'Replay dead letters: publish each matching one that was not replayed before, once, with the same ' +
        'delivery id and body. All attempts start again, for all URLs.\n\n' +
        'It may be interrupted at any time, also by kill -9; the same command continues and duplicates ' +
        'nothing. Deliveries that fail during the replay are left for the next one. A second replay ends the ' +
        'first.',
      options: {
        ...filterOptions,
        all: flag('all dead letters; required without a filter'),
        ...replayOptions,
        yes: flag('do not ask for confirmation'),
      },
      examples: [
        'dead replay --destination crm --since 2h',
        "dead replay --event 'Order Completed' --user ada",
        'dead replay --all --rate 200',
      ],
      reads: ['kafka'],
      run: async (values, context) => (await import('./replay.ts')).replay(values, context),
    }),
  ),
];
