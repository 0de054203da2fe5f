/**
 * Removes previous secrets and keys whose time has passed from the configuration. Delivery does not sign with them any more by then:
 * this only makes the entry as short as it was, and the secret is no longer stored. The public key of a previous key is no longer
 * published from then on.
 */
import type { ConfigEditor, Destination } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import type { Log } from '@tailrace/service';
import { mergePatch } from '../entry/merge-patch.ts';

const noPreviousSecret = { previousSharedSecret: null, previousSharedSecretUntil: null };
const noPreviousKey = { ed25519: { previousKey: null, previousKeyUntil: null } };

/** A delivery replica whose clock is late still signs with a previous key, and a receiver may verify later what it received. */
export const publishedForMs = 3_600_000;

/** @param until undefined for one without an end */
export function isOver(until: string | undefined, now: number): boolean {
  return until !== undefined && Date.parse(until) <= now;
}

export interface ExpiredSecretsOptions {
  readonly config: Pick<ConfigEditor, 'destinations' | 'change'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly everyMs?: number;
  readonly now?: () => number;
}

/** Looks regularly until it is closed. Every instance may do it: the second one finds nothing left to remove. */
export function removeExpiredSecrets(options: ExpiredSecretsOptions): { close(): Promise<void> } {
  const { config, log, everyMs = 60_000, now = Date.now } = options;
  const removals = ({ settings }: Destination): object[] => [
    ...(isOver(settings.previousSharedSecretUntil, now()) ? [noPreviousSecret] : []),
    ...(isOver(settings.ed25519?.previousKeyUntil, now() - publishedForMs) ? [noPreviousKey] : []),
  ];
  const isExpired = (destination: Destination): boolean => removals(destination).length > 0;
  const remove = async (): Promise<void> => {
    if (!config.destinations().some(isExpired)) return;
    try {
      const { result } = await config.change((current) => {
        const expired = current.destinations().filter(isExpired);
        const writes = expired.map((entry) => {
          const settings = Object.assign({}, ...removals(entry)) as object;
          return {
            kind: 'destination' as const,
            id: entry.id,
            entry: mergePatch(entry, { settings }) as Destination,
          };
        });
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
