/**
 * Copies of the deliveries of the destinations that somebody listens to, each once, as its first URL is sent them (streams/watches.ts). What a
 * receiver is sent again by a retry has the same bytes, and is no copy of its own; what is replayed or resent is one.
 */
import type { ConfigView, Destination } from '@tailrace/config';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import { decodeDelivery, userKeyOf, type Delivery } from '@tailrace/records';
import { isOfDeletedUser, type DeletedUsers } from '@tailrace/suppressions';
import type { TopicNames } from '@tailrace/topology';
import { pairsOf, requestHeaders, targetsOf } from '@tailrace/webhook';
import { reachesDelivery } from '../access/limits.ts';
import { amounts } from '../access/shared.ts';
import { Watches, type Watcher } from '../streams/watches.ts';

export interface CopyFeedNeeds {
  readonly kafka: Pick<Kafka, 'tail' | 'offsets'>;
  readonly names: Pick<TopicNames, 'deliveries' | 'deliveriesReplay'>;
  readonly config: Pick<ConfigView, 'destination'>;
  readonly users: Pick<DeletedUsers, 'deletions' | 'deletionsOf'>;
}

/** A request as the receiver gets it. */
export interface Copy {
  readonly deliveryId: string;
  readonly sourceId: string;
  readonly type: string;
  readonly event?: string | undefined;
  readonly userKey: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export class CopyFeed {
  readonly #config: CopyFeedNeeds['config'];
  readonly #users: CopyFeedNeeds['users'];
  readonly #watches: Watches<object>;

  constructor({ kafka, names, config, users }: CopyFeedNeeds) {
    this.#config = config;
    this.#users = users;
    this.#watches = new Watches({
      kafka,
      topics: [names.deliveries, names.deliveriesReplay],
      limits: amounts.copies,
      newState: () => ({}),
      onRecord: (record) => this.#take(record),
    });
  }

  /**
   * Resolves when the deliveries of the destination are being read, with a function that ends it.
   *
   * @throws TailraceError `kafka-unavailable`
   */
  watch(destinationId: string, watcher: Watcher): Promise<() => void> {
    return this.#watches.watch(destinationId, watcher);
  }

  #take(record: ConsumedRecord): void {
    const watched = this.#watches.get(record.headers['destination-id']?.toString() ?? '');
    const destination = watched && this.#config.destination(watched.id);
    if (!destination) return;
    const delivery = decodeDelivery(record);
    // Another program may write to the topic.
    if (typeof delivery === 'string') return;
    // The receiver gets nothing where the transform has failed.
    if (delivery.transformFailure !== undefined || isOfDeletedUser(delivery, record.timestamp, this.#users))
      return;
    const viewers = [...watched.viewers].filter((viewer) => wants(viewer, delivery));
    if (viewers.length === 0 || !this.#watches.mayLook(watched, record, viewers)) return;
    const sent = viewers.filter((viewer) => this.#watches.maySend(viewer));
    if (sent.length === 0) return;
    const line = Buffer.from(`${JSON.stringify(copyOf(delivery, destination))}\n`);
    for (const viewer of sent) viewer.send(line);
  }
}

function wants({ caller, event, userId }: Watcher, delivery: Delivery): boolean {
  const isOf = (wanted: string | undefined, found: string | undefined): boolean =>
    wanted === undefined || wanted === found;
  return (
    reachesDelivery(caller, delivery) && isOf(event, delivery.eventName) && isOf(userId, userKeyOf(delivery))
  );
}

/**
 * Signed for the moment at which it is made. The headers of the URL and of `auth` are left out: their values are credentials of the real
 * receiver, which the API shows to nobody, and a mask in their place would be no value that a receiver accepts.
 */
function copyOf(delivery: Delivery, destination: Destination): Copy {
  const targets = targetsOf(destination);
  const target = targets[delivery.onlyUrl ?? 0] ?? targets[0];
  if (!target) throw new Error('a destination has a URL');
  const stamp = { ...delivery, startedAt: Date.now(), added: delivery.requestHeaders };
  const headers = requestHeaders(destination, { ...target, headers: [] }, delivery.body, stamp);
  return {
    deliveryId: delivery.deliveryId,
    sourceId: delivery.sourceId,
    type: delivery.type,
    event: delivery.eventName,
    userKey: userKeyOf(delivery),
    method: target.method,
    headers: Object.fromEntries(pairsOf(headers)),
    body: delivery.body.toString(),
  };
}
