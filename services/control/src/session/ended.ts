/**
 * Sessions that were ended by a sign-out, from the topic `sessions`, for all instances. A sealed cookie says itself until when it is
 * valid, so the id of an ended session is kept until then.
 *
 * Memory is bounded: of each token 1,000 ids are kept, of about 100 bytes.
 */
import { TailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import { objectIn } from '@tailrace/records';
import { amounts } from '../access/shared.ts';
import type { OpenedSession } from './seal.ts';

interface SignOut {
  readonly token: string;
  /** Of the session, in milliseconds since 1970. */
  readonly expiresAt: number;
}

const giveUpAfterMs = 10_000;

export type EndedSessions = Awaited<ReturnType<typeof openEndedSessions>>;

export async function openEndedSessions(kafka: Pick<Kafka, 'follow' | 'publisher'>, topic: string) {
  const ended = new Map<string, SignOut>();
  const forgetExpired = (): void => {
    for (const [id, { expiresAt }] of ended) if (expiresAt <= Date.now()) ended.delete(id);
  };
  const follower = await kafka.follow({
    topic,
    onRecord({ key, value }) {
      const signOut = decode(value);
      if (key && signOut) ended.set(key.toString(), signOut);
      forgetExpired();
    },
  });
  const publisher = kafka.publisher({ giveUpAfterMs });
  return {
    has: ({ id }: OpenedSession) => ended.has(id),
    /**
     * Resolves once the session has ended here. Another instance reads it before it answers the next request with a session.
     *
     * @param token the id of its token, or the fingerprint of one of the settings
     * @throws TailraceError `kafka-unavailable`; `too-many-requests` for a token of which too many sessions were ended
     */
    async end({ id, expiresAt }: OpenedSession, token: string): Promise<void> {
      forgetExpired();
      const ofToken = [...ended.values()].filter((signOut) => signOut.token === token);
      if (ofToken.length >= amounts.endedSessionsOfToken) {
        throw new TailraceError(
          'too-many-requests',
          'Too many sessions of the token were ended within 12 hours.',
        );
      }
      const signOut: SignOut = { token, expiresAt };
      await publisher.publish({ topic, partition: 0, key: id, value: JSON.stringify(signOut) });
      await follower.refresh();
    },
    /** Resolves once everything that the topic contains is known. @throws TailraceError `kafka-unavailable` */
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  };
}

function decode(value: Buffer | null): SignOut | undefined {
  const { token, expiresAt } = objectIn<SignOut>(value) ?? {};
  return typeof token === 'string' && typeof expiresAt === 'number' ? { token, expiresAt } : undefined;
}
