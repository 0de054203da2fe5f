/** infra/PERMISSIONS.md and the permissions in the chart, generated from the table in packages/topology. */
import { permissions, type Permission } from '@tailrace/topology';
import { stringify } from 'yaml';

const introduction = `# Permissions

Each service and each kind of command can have a user of its own in Kafka, with only the permissions (ACLs) that it needs.
\`test/infra/live/kafka-permissions.test.ts\` runs every part with exactly these, and fails if one is missing or is not used. This page is
generated from \`packages/topology/src/permissions.ts\`: run \`npm run docs\` after a change. To create them:

\`\`\`sh
npx tailrace permissions --format kafka-acls --bootstrap-server kafka:9092 --command-config admin.properties | sh
npx tailrace permissions --format strimzi --cluster kafka | kubectl apply -f -
\`\`\`

- **Users** are \`tailrace-ingest\`, \`tailrace-router\` and so on; \`--name\` changes this. With client certificates, Kafka's name of a user
  is the subject, such as \`--name 'CN=tailrace-{user}'\`. With tokens it is the claim that the brokers are configured to use (\`sub\`).
- **One user for everything** works too, with the permissions of all.
- **The prefix** here is \`tailrace.\`; yours is \`TAILRACE_TOPIC_PREFIX\`. A name with \`*\` stands for all names that begin so. Where several
  installations share a cluster, no prefix may be the beginning of another: use \`tailrace-a.\` and \`tailrace-b.\`.
- **Describe** is implied by Read and Write. No permission on the cluster is needed.
- **A missing permission** is logged with the resource and the operation (\`kafka-permission-missing\`). Add it, and the service continues.
- **Do not let other users write** to \`deliveries\` and its retry topics: what is written there is signed and sent.
`;

export function permissionsPage(): string {
  const sections = permissions.map(({ user, purpose, resources }) => {
    const alike = Map.groupBy(
      resources,
      ({ type, operations }) => `${operations.join(', ')} (${typeNames[type]})`,
    );
    const items = Array.from(alike, ([allowed, all]) => {
      const names = all.map((permission) => `\`${nameOf(permission)}\``).join(', ');
      return `- ${allowed}: ${names}\n`;
    });
    const isService = purpose === `the service ${user}`;
    return `## ${user}\n\n${isService ? '' : `For ${purpose}.\n\n`}${items.join('')}`;
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
  return `# Generated from packages/topology/src/permissions.ts: run npm run docs.\n${stringify(users, { aliasDuplicateObjects: false })}`;
}
