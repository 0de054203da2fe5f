/** The identity of this control instance, and the syncs that its previous run left running. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isTailraceError } from '@tailrace/errors';
import type { Kafka, KafkaLog } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topology';
import { stoppedProblem } from './sync/problems.ts';
import { audienceKey, encodeAudience, type Audience } from './state/records.ts';
import { publisherId, transactionTimeoutMs } from './sync/sync.ts';

export interface InstanceDependencies {
  readonly kafka: Pick<Kafka, 'exclusivePublisher'>;
  readonly names: Pick<TopicNames, 'audiences' | 'audiencesSyncs'>;
  readonly log: Pick<KafkaLog, 'warn'>;
}

/** The instance's id, which is stored in its data folder and therefore survives restarts. */
export function instanceId(folder: string): string {
  const file = path.join(folder, 'instance-id');
  mkdirSync(folder, { recursive: true });
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const id = randomUUID();
    writeFileSync(file, id);
    return id;
  }
}

/** Records the running syncs of this instance's previous run as interrupted, and aborts their open transactions. */
export async function interruptPreviousSyncs(
  deps: InstanceDependencies,
  audiences: Iterable<Audience>,
  instance: string,
): Promise<void> {
  for (const audience of audiences) {
    if (audience.sync.state !== 'running' || audience.sync.instance !== instance) continue;
    await recordInterrupted(deps, audience).catch((error: unknown) => {
      if (!isTailraceError(error)) throw error;
      deps.log.warn(
        { err: error, audience: audienceKey(audience) },
        'sync of previous run not recorded as interrupted',
      );
    });
  }
}

/** Opening the publisher aborts the transaction that the previous run left open. */
async function recordInterrupted({ kafka, names }: InstanceDependencies, audience: Audience): Promise<void> {
  const publisher = await kafka.exclusivePublisher(publisherId(names, audience), { transactionTimeoutMs });
  try {
    const sync = { ...audience.sync, state: 'interrupted' as const, problem: stoppedProblem };
    const record = encodeAudience(names.audiencesSyncs, { ...audience, sync });
    await publisher.publish([{ ...record, partition: 0 }]);
  } finally {
    await publisher.close();
  }
}
