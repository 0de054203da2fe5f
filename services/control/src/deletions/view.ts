/** The current state of all deletion requests, from the topic `deletions`. */
import type { Kafka } from '@tailrace/kafka';
import { marksOf } from './marks.ts';
import { decodeRequest, totalOf, withoutUsers, type DeletionRequest } from './request.ts';

/** Whether all marks and events of the request are written. */
export function isWritten(request: DeletionRequest): boolean {
  return request.sent >= totalOf(request) && (request.marked ?? 0) >= marksOf(request);
}

export type DeletionView = Awaited<ReturnType<typeof openDeletionView>>;

export async function openDeletionView(kafka: Pick<Kafka, 'follow'>, topic: string) {
  const requests = new Map<string, DeletionRequest>();
  const since = new Map<string, number>();
  const accept = (request: DeletionRequest): void => {
    // A write of this process is read later, when a newer one may have been applied.
    const known = requests.get(request.id);
    if (known && stepOf(known) > stepOf(request)) return;
    // A release before kept the audiences.
    requests.set(request.id, isWritten(request) ? withoutUsers(request) : request);
    if (!isWritten(request)) since.set(request.id, performance.now());
    else since.delete(request.id);
  };
  const follower = await kafka.follow({
    topic,
    onRecord({ key, value }) {
      const request = value && decodeRequest(value);
      if (request) accept(request);
      else if (value === null) requests.delete(key?.toString() ?? '');
    },
  });
  return {
    get: (id: string) => requests.get(id),
    /** Newest first. */
    all: () =>
      [...requests.values()].sort((a, b) =>
        a.createdAt === b.createdAt ? (a.id < b.id ? -1 : 1) : a.createdAt < b.createdAt ? 1 : -1,
      ),
    /** The ids of those of which everything was written, or that were lifted, before `time`. */
    writtenBefore: (time: number) =>
      [...requests.values()].flatMap((request) =>
        isWritten(request) && Date.parse(request.updatedAt) < time ? [request.id] : [],
      ),
    /** Requests with records to write, and the time (`performance.now()`) of each one's latest progress. */
    unfinished: () =>
      Array.from(since, ([id, since]) => ({ request: requests.get(id), since })).flatMap(
        ({ request, since }) => (request ? [{ request, since }] : []),
      ),
    /** Applies a write of this process before it is read from the topic. */
    accept,
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  };
}

/** Grows with every record of a request. */
function stepOf({ sent, marked = 0, liftedAt }: DeletionRequest): number {
  return sent + marked + (liftedAt === undefined ? 0 : 1);
}
