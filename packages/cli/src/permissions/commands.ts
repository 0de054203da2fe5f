import { choice, command, repeatable, text, withDefault, type Declared } from '../declare.ts';

export const permissions: Declared = command({
  words: 'permissions',
  summary: 'print the permissions that Tailrace needs in Kafka',
  description:
    'Print the permissions that Tailrace needs in Kafka.\n\n' +
    'Each service and each kind of command can have a user of its own in Kafka, which is allowed only what it needs. ' +
    'This command prints the permissions as a table, as commands of kafka-acls.sh or as KafkaUser objects of ' +
    'Strimzi. It does not connect to Kafka.\n\n' +
    'infra/PERMISSIONS.md explains them.',
  options: {
    format: withDefault(
      choice('<format>', 'form of the result', ['table', 'kafka-acls', 'strimzi']),
      'table',
    ),
    user: repeatable('<user>', 'only this user, such as ingest'),
    name: withDefault(text('<name>', 'name of a user in Kafka; {user} is replaced'), 'tailrace-{user}'),
    bootstrapServer: withDefault(text('<host:port>', 'kafka-acls: bootstrap servers'), 'localhost:9092'),
    commandConfig: text('<file>', 'kafka-acls: settings of an administrator'),
    cluster: withDefault(text('<name>', 'strimzi: name of the Kafka object'), 'kafka'),
    authentication: withDefault(
      choice('<type>', 'strimzi: how the users authenticate', ['scram-sha-512', 'tls']),
      'scram-sha-512',
    ),
  },
  examples: [
    'permissions',
    'permissions --format kafka-acls --bootstrap-server kafka:9093 --command-config admin.properties',
    'permissions --format kafka-acls --user router --name CN=router',
    'permissions --format strimzi --cluster shop --authentication tls',
  ],
  reads: ['prefix'],
  run: async (values, context) => (await import('./show.ts')).showPermissions(values, context),
});
