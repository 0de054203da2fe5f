import { choice, command, flag, integer, type Declared } from '../declare.ts';

export const topicCommands: readonly Declared[] = [
  command({
    words: 'topics apply',
    summary: 'create missing topics, and add partitions',
    description:
      'Create missing topics, and add partitions.\n\n' +
      'Topics that differ from the settings are reported with the fix. A difference may be intended, so it does ' +
      'not change the exit code without --strict. Without --partitions no existing topic is changed, so this ' +
      'command may run at every deployment.\n\n' +
      'With --partitions, topics are extended to N partitions while the services run, in a safe order. Kafka ' +
      'cannot remove partitions. packages/topology/README.md describes the effects.\n\n' +
      'If SCHEMA_REGISTRY_URL is set, the JSON Schema of the topic "events" is registered as the subject ' +
      '<prefix>events-value.',
    options: {
      strict: flag('exit with 1 if a topic differs'),
      partitions: integer('extend topics to N partitions, except those with a fixed number', 1, 10_000),
      only: choice('<topics>', 'with --partitions: extend only these topics and their retry topics', [
        'deliveries',
        'events',
      ]),
    },
    examples: [
      'topics apply',
      'topics apply --strict',
      'topics apply --partitions 12',
      'topics apply --partitions 12 --only deliveries',
    ],
    reads: ['kafka', 'schemas'],
    run: async (values, context) => (await import('./apply.ts')).applyTopics(values, context),
  }),
  command({
    words: 'topics list',
    summary: 'list existing and missing topics',
    description:
      'List existing and missing topics.\n\n' +
      'Other topics with the same prefix are listed as "not needed", such as retry topics of an earlier schedule.',
    examples: ['topics list'],
    reads: ['kafka'],
    run: async (values, context) => (await import('./list.ts')).listTopics(values, context),
  }),
];
