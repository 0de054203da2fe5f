/** `tailrace permissions`: what the users of Tailrace need to be allowed in Kafka. */
import { readSettings, topicPrefix } from '@tailrace/service';
import { permissions, type UserPermissions } from '@tailrace/topology';
import Type from 'typebox';
import { stringify } from 'yaml';
import { UsageError, type Run } from '../command.ts';
import { table } from '../terminal/table.ts';
import { fullName, kafkaAclCommands } from './kafka-acls.ts';
import { kafkaUser } from './kafka-users.ts';

interface Values {
  readonly user?: readonly string[];
  readonly format: 'table' | 'kafka-acls' | 'strimzi';
  readonly name: string;
  readonly bootstrapServer: string;
  readonly commandConfig?: string;
  readonly cluster: string;
  readonly authentication: 'scram-sha-512' | 'tls';
}

const settings = Type.Object({ prefix: topicPrefix() });

export const showPermissions: Run<Values> = (values, { env }) => {
  const { format, name, bootstrapServer, commandConfig, cluster, authentication } = values;
  const { prefix } = readSettings(env, settings);
  const users = values.user === undefined ? permissions : values.user.map(find);
  const nameOf = ({ user }: UserPermissions): string => name.replaceAll('{user}', user);
  if (users.length > 1 && !name.includes('{user}')) {
    throw new UsageError('--name must contain {user}, or --user must name one user');
  }
  const texts = {
    table: () =>
      users.flatMap((one) => [
        `${one.user}: ${one.purpose.replaceAll('`', '')}`,
        ...table(
          one.resources.map((permission) => [
            `  ${permission.type}`,
            `${fullName(permission, prefix)}${permission.patternType === 'prefix' ? '*' : ''}`,
            permission.operations.join(', '),
          ]),
        ),
        '',
      ]),
    'kafka-acls': () =>
      users.flatMap((one) => [
        `# ${one.user}: ${one.purpose}`,
        ...kafkaAclCommands(one, { principal: nameOf(one), prefix, bootstrapServer, commandConfig }),
      ]),
    strimzi: () =>
      users.flatMap((one) => [
        '---',
        `# ${one.user}: ${one.purpose}`,
        stringify(kafkaUser(one, { name: nameOf(one), prefix, cluster, authentication })).trimEnd(),
      ]),
  };
  const json = { prefix, users: users.map((one) => ({ ...one, name: nameOf(one) })) };
  return Promise.resolve({ text: texts[format](), json });
};

function find(user: string): UserPermissions {
  const found = permissions.find((one) => one.user === user);
  if (found) return found;
  throw new UsageError(
    `there is no user ${user}; there are ${permissions.map((one) => one.user).join(', ')}`,
  );
}
