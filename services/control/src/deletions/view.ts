/** All deletion requests as they are now: the topic `deletions`, followed live. */
import type { Kafka } from '@tailrace/kafka';
import { decodeRequest, totalOf, type DeletionRequest } from './request.ts';

export interface DeletionView {
  get(id: string): DeletionRequest | undefined;
  /** The newest first. */
  all(): DeletionRequest[];
  /** Those with events to send, and since when (`performance.now()`) each has not moved. */
  unfinished(): { readonly request: DeletionRequest; readonly since: number }[];
  /** Takes note of what this process has written, before it is read. */
  accept(request: DeletionRequest): void;
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export async function openDeletionView(kafka: Pick<Kafka, 'follow'>, topic: string): Promise<DeletionView> {
  const requests = new Map<string, DeletionRequest>();
  const since = new Map<string, number>();
  const accept = (request: DeletionRequest): void => {
    // What was written here comes round again later, when there may be more.
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
