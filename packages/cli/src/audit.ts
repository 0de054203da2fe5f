/** Entries of the audit log for commands that write to Kafka directly. The actor is the user of the operating system. */
import { hostname, userInfo } from 'node:os';
import { differencesOf, type BeforeWrite } from '@tailrace/config';
import type { Kafka } from '@tailrace/kafka';
import { encodeAudit, newAudit, type AuditActor, type AuditedField } from '@tailrace/records';
import type { CommandContext } from './command.ts';

/** `user@host`; in a container without user names, the number of the user. */
export function actor(): AuditActor {
  let user: string;
  try {
    user = userInfo().username;
  } catch {
    user = `uid ${process.getuid?.() ?? 'unknown'}`;
  }
  return { kind: 'user', name: `${user}@${hostname()}` };
}

/**
 * The entry of each change of a command such as `apply`, in the transaction of the change.
 *
 * @param topic the topic `audit`
 */
export function auditedAs(topic: string, command: string): BeforeWrite {
  return (write, current) => {
    const { kind, id, entry } = write;
    const changes = differencesOf(current[kind](id), entry);
    return [
      encodeAudit(
        topic,
        newAudit({ action: command, target: `${kind}/${id}`, outcome: 'done', actor: actor(), changes }),
      ),
    ];
  };
}

export interface AuditedChange {
  readonly action: string;
  readonly target: string;
  readonly changes: readonly AuditedField[];
  /** Default 10 s. */
  readonly giveUpAfterMs?: number;
}

/** Leaves the entry of a command that has changed something else. If Kafka does not take it, the user is warned. */
export async function leaveEntry(
  kafka: Pick<Kafka, 'publisher'>,
  topic: string,
  { action, target, changes, giveUpAfterMs = 10_000 }: AuditedChange,
  { warn }: Pick<CommandContext, 'warn'>,
): Promise<void> {
  const record = newAudit({ action, target, outcome: 'done', actor: actor(), changes });
  try {
    await kafka.publisher({ giveUpAfterMs }).publish(encodeAudit(topic, record));
  } catch (error) {
    warn(`The audit log has no entry for this: ${error instanceof Error ? error.message : String(error)}`);
  }
}
