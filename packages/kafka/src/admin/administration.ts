/** An administration client that connects on first use. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Admin } from '../patches/reading/admin-requests.ts';

export interface Administration {
  readonly admin: () => Promise<Admin>;
  /** Runs `work` with the connected client, and classifies its errors. */
  readonly administer: <T>(work: (admin: Admin) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

const closeTimeoutMs = 1_000;

export function openAdministration(
  create: () => Admin,
  classify: (error: unknown) => unknown,
): Administration {
  let connecting: Promise<Admin> | undefined;

  const connect = async (): Promise<Admin> => {
    const admin = create();
    await admin.connect();
    return admin;
  };
  const admin = (): Promise<Admin> => {
    connecting ??= connect();
    connecting.catch(() => {
      connecting = undefined;
    });
    return connecting;
  };

  return {
    admin,
    administer: async (work) => {
      try {
        return await work(await admin());
      } catch (error) {
        throw classify(error);
      }
    },
    close: async () => {
      const disconnected = connecting?.then((admin) => admin.disconnect()).catch(() => undefined);
      connecting = undefined;
      // A client that is still connecting disconnects afterwards.
      await Promise.race([disconnected, wait(closeTimeoutMs, undefined, { ref: false })]);
    },
  };
}
