import { choice, group, integer, notes, type Declare } from '../declare.ts';

export const declareTopics: Declare = (program, action) => {
  const topics = group(program, 'topics').summary('create, extend and list the Kafka topics');

  topics
    .command('apply')
    .summary('create missing topics, and add partitions')
    .description(
      'Create missing topics, and add partitions.\n\n' +
        'Topics that differ from the settings are reported with the fix. A difference may be intended, so it does ' +
        'not change the exit code without --strict. Without --partitions no existing topic is changed, so this ' +
        'command may run at every deployment.\n\n' +
        'With --partitions, topics are extended to N partitions while the services run, in a safe order. Kafka ' +
        'cannot remove partitions. packages/topology/README.md describes the effects.\n\n' +
        'If SCHEMA_REGISTRY_URL is set, the JSON Schema of the topic "events" is registered as the subject ' +
        '<prefix>events-value.',
    )
    .option('--strict', 'exit with 1 if a topic differs')
    .addOption(
      integer(
        '--partitions <n>',
        'extend topics to N partitions, except those with a fixed number',
        1,
        10_000,
      ),
    )
    .addOption(
      choice('--only <topics>', 'with --partitions: extend only these topics and their retry topics', [
        'deliveries',
        'events',
      ]),
    )
    .addHelpText(
      'after',
      notes({
        examples: [
          'topics apply',
          'topics apply --strict',
          'topics apply --partitions 12',
          'topics apply --partitions 12 --only deliveries',
        ],
        reads: ['kafka', 'schemas'],
      }),
    )
    .action(action(async () => (await import('./apply.ts')).applyTopics));

  topics
    .command('list')
    .summary('list existing and missing topics')
    .description(
      'List existing and missing topics.\n\n' +
        'Other topics with the same prefix are listed as "not needed", such as retry topics of an earlier schedule.',
    )
    .addHelpText('after', notes({ examples: ['topics list'], reads: ['kafka'] }))
    .action(action(async () => (await import('./list.ts')).listTopics));
};
