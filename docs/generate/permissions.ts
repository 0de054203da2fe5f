/** infra/PERMISSIONS.md and the permissions in the chart, generated from the table in packages/topics. */
import { permissions, type Permission } from '@tailrace/topics';
import { stringify } from 'yaml';
import { table } from './table.ts';

const introduction = `# Permissions

Each service and each kind of command can have a user of its own in Kafka, which is allowed only what it needs. This page lists the
permissions (ACLs) of each. It is generated from \`packages/topics/src/permissions.ts\`: run \`npm run docs\` after a change.
\`test/infra/live/kafka-permissions.test.ts\` runs every part with exactly these permissions on a broker with an authorizer, and
fails if one is missing or is not used.

To create them:

\`\`\`sh
npx tailrace permissions --format kafka-acls --bootstrap-server kafka:9092 --command-config admin.properties | sh
npx tailrace permissions --format strimzi --cluster kafka | kubectl apply -f -
\`\`\`

- **Users**: \`tailrace-ingest\`, \`tailrace-router\` and so on; \`--name\` changes this. With client certificates, Kafka's name of a user
  is the subject, such as \`--name 'CN=tailrace-{user}'\`; with tokens it is the claim that the brokers are configured to use (\`sub\`).
- **One user for everything** works too: grant it the permissions of all users.
- **The prefix** is that of \`TAILRACE_TOPIC_PREFIX\`, in the tables \`tailrace.\`. Permissions with \`*\` apply to all names that begin
  so. Where several installations share a cluster, no prefix may be the beginning of another: use \`tailrace-a.\` and \`tailrace-b.\`,
  not \`tailrace.\` and \`tailrace.b.\`.
- **Describe is implied** by Read and Write, so it is listed only where neither is needed.
- **No permission on the cluster** is needed. An idempotent producer needs none since Kafka 2.8.
- **A missing permission** is logged with the resource and the operation (error code \`kafka-permission-missing\`). Add it, and the
  service continues without a restart.
- **Do not let other users write** to \`deliveries\` and its retry topics: what is written there is signed and sent.
`;

export function permissionsPage(): string {
  const sections = permissions.map(({ user, purpose, resources }) => {
    const rows = resources.map((permission) => [
      typeNames[permission.type],
      `\`${nameOf(permission)}\``,
      permission.operations.join(', '),
    ]);
    return `## ${user}\n\nFor ${purpose}.\n\n${table(['resource', 'name', 'operations'], rows)}`;
  });
  return [introduction, ...sections].join('\n');
}

const typeNames = { topic: 'topic', group: 'consumer group', transactionalId: 'transactional id' };

function nameOf({ name, prefixed, patternType }: Permission): string {
  return `${prefixed ? 'tailrace.' : ''}${name}${patternType === 'prefix' ? '*' : ''}`;
}

/** Names are without the prefix, which the chart adds where \`prefixed\` is true. */
export function permissionsFile(): string {
  const users = permissions.map(({ user, resources }) => ({ user, resources }));
  return `# Generated from packages/topics/src/permissions.ts: run npm run docs.\n${stringify(users, { aliasDuplicateObjects: false })}`;
}
