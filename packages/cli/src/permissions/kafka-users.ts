/** Users with permissions as `KafkaUser` objects of Strimzi. */
import type { UserPermissions } from '@tailrace/topology';
import { fullName } from './kafka-acls.ts';

export interface KafkaUserOptions {
  /** The user in Kafka, such as `tailrace-ingest`. */
  readonly name: string;
  readonly prefix: string;
  /** The name of the `Kafka` object. */
  readonly cluster: string;
  readonly authentication: 'scram-sha-512' | 'tls';
}

export function kafkaUser({ resources }: UserPermissions, options: KafkaUserOptions): object {
  const { name, prefix, cluster, authentication } = options;
  return {
    apiVersion: 'kafka.strimzi.io/v1',
    kind: 'KafkaUser',
    metadata: { name, labels: { 'strimzi.io/cluster': cluster } },
    spec: {
      authentication: { type: authentication },
      authorization: {
        type: 'simple',
        acls: resources.map((permission) => ({
          resource: {
            type: permission.type,
            name: fullName(permission, prefix),
            patternType: permission.patternType,
          },
          operations: permission.operations,
        })),
      },
    },
  };
}
