/** The current state of all deletion requests, from the topic `deletions`. */
import type { Kafka } from '@tailrace/kafka';
import { decodeRequest, totalOf, type DeletionRequest } from './request.ts';

export interface DeletionView {
  get(id: string): DeletionRequest | undefined;
  /** Newest first. */
  all(): DeletionRequest[];
  /** Requests with events to send, and the time (`performance.now()`) of each one's latest progress. */
  unfinished(): { readonly request: DeletionRequest; readonly since: number }[];
  /** Applies a write of this process before it is read from the topic. */
  accept(request: DeletionRequest): void;
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export async function openDeletionView(kafka: Pick<Kafka, 'follow'>, topic: string): Promise<DeletionView> {
  const requests = new Map<string, DeletionRequest>();
  const since = new Map<string, number>();
  const accept = (request: DeletionRequest): void => {
    // A write of this process is read later, when a newer one may have been applied.
    if ((requests.get(request.id)?.sent ?? -1) > request.sent) return;
    requests.set(request.id, request);
    if (request.sent < totalOf(request)) since.set(request.id, performance.now());
    else since.delete(request.id);
  };
  const follower = await kafka.follow({
    topic,
    onRecord({ value }) {
      const request = value && decodeRequest(value);
      if (request) accept(request);
    },
  });
  return {
    get: (id) => requests.get(id),
    all: () =>
      [...requests.values()].sort((a, b) =>
        a.createdAt === b.createdAt ? (a.id < b.id ? -1 : 1) : a.createdAt < b.createdAt ? 1 : -1,
      ),
    unfinished: () =>
      Array.from(since, ([id, since]) => ({ request: requests.get(id), since })).flatMap(
        ({ request, since }) => (request ? [{ request, since }] : []),
      ),
    accept,
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  };
}
