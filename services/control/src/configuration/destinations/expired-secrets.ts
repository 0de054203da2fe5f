/**
 * Removes previous secrets whose time has passed from the configuration. Delivery does not sign with them any more by then:
 * this only makes the entry as short as it was, and the secret is no longer stored.
 */
import type { ConfigEditor, Destination } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import type { Log } from '@tailrace/service';
import { mergePatch } from '../entry/merge-patch.ts';

const noPreviousSecret = { previousSharedSecret: null, previousSharedSecretUntil: null };

export interface ExpiredSecretsOptions {
  readonly config: Pick<ConfigEditor, 'destinations' | 'change'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly everyMs?: number;
  readonly now?: () => number;
}

/** Looks regularly until it is closed. Every instance may do it: the second one finds nothing left to remove. */
export function removeExpiredSecrets(options: ExpiredSecretsOptions): { close(): Promise<void> } {
  const { config, log, everyMs = 60_000, now = Date.now } = options;
  const isExpired = ({ settings }: Destination): boolean => {
    const { previousSharedSecretUntil: until } = settings;
    return until !== undefined && Date.parse(until) <= now();
  };
  const remove = async (): Promise<void> => {
    if (!config.destinations().some(isExpired)) return;
    try {
      const { result } = await config.change((current) => {
        const expired = current.destinations().filter(isExpired);
        const writes = expired.map((entry) => ({
          kind: 'destination' as const,
          id: entry.id,
          entry: mergePatch(entry, { settings: noPreviousSecret }) as Destination,
        }));
        return { writes, result: expired.map(({ id }) => id) };
      });
      for (const destinationId of result) log.info({ destinationId }, 'previous secret removed');
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      log.warn({ err: error }, 'removing previous secrets failed, retrying');
    }
  };
  let running = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(remove);
  }, everyMs);
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
