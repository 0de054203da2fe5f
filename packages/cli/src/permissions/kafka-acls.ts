/** Commands of kafka-acls.sh that grant permissions. */
import type { Permission, UserPermissions } from '@tailrace/topology';
import { quoted } from '../terminal/table.ts';

export interface AclOptions {
  /** The user in Kafka, such as `tailrace-ingest`. */
  readonly principal: string;
  readonly prefix: string;
  readonly bootstrapServer: string;
  /** A file with the settings of an administrator. */
  readonly commandConfig?: string | undefined;
}

const resourceFlags = { topic: '--topic', group: '--group', transactionalId: '--transactional-id' } as const;

/** One command for each resource. */
export function kafkaAclCommands({ resources }: UserPermissions, options: AclOptions): string[] {
  const { principal, prefix, bootstrapServer, commandConfig } = options;
  const begin = [
    'kafka-acls.sh',
    '--bootstrap-server',
    quoted(bootstrapServer),
    ...(commandConfig === undefined ? [] : ['--command-config', quoted(commandConfig)]),
    '--add',
    '--allow-principal',
    quoted(`User:${principal}`),
  ];
  return resources.map((permission) => {
    const { type, patternType, operations } = permission;
    const resource = [resourceFlags[type], quoted(fullName(permission, prefix))];
    const pattern = patternType === 'prefix' ? ['--resource-pattern-type', 'prefixed'] : [];
    return [...begin, ...operations.flatMap((name) => ['--operation', name]), ...resource, ...pattern].join(
      ' ',
    );
  });
}

/** The name of the resource in Kafka. */
export function fullName({ name, prefixed }: Permission, prefix: string): string {
  return prefixed ? prefix + name : name;
}
