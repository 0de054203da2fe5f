import { choice, notes, repeatable, type Declare } from '../declare.ts';

export const declarePermissions: Declare = (program, action) => {
  program
    .command('permissions')
    .summary('print the permissions that Tailrace needs in Kafka')
    .description(
      'Print the permissions that Tailrace needs in Kafka.\n\n' +
        'Each service and each kind of command can have a user of its own in Kafka, which is allowed only what it needs. ' +
        'This command prints the permissions as a table, as commands of kafka-acls.sh or as KafkaUser objects of ' +
        'Strimzi. It does not connect to Kafka.\n\n' +
        'infra/PERMISSIONS.md explains them.',
    )
    .addOption(
      choice('--format <format>', 'form of the result', ['table', 'kafka-acls', 'strimzi']).default('table'),
    )
    .addOption(repeatable('--user <user>', 'only this user, such as ingest'))
    .option('--name <name>', 'name of a user in Kafka; {user} is replaced', 'tailrace-{user}')
    .option('--bootstrap-server <host:port>', 'kafka-acls: bootstrap servers', 'localhost:9092')
    .option('--command-config <file>', 'kafka-acls: settings of an administrator')
    .option('--cluster <name>', 'strimzi: name of the Kafka object', 'kafka')
    .addOption(
      choice('--authentication <type>', 'strimzi: how the users authenticate', [
        'scram-sha-512',
        'tls',
      ]).default('scram-sha-512'),
    )
    .addHelpText(
      'after',
      notes({
        examples: [
          'permissions',
          'permissions --format kafka-acls --bootstrap-server kafka:9093 --command-config admin.properties',
          'permissions --format kafka-acls --user router --name CN=router',
          'permissions --format strimzi --cluster shop --authentication tls',
        ],
        reads: ['prefix'],
      }),
    )
    .action(action(async () => (await import('./show.ts')).showPermissions));
};
