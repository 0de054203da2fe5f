/**
 * The ledger of a fault test: the expected events of each destination, the requests to its receiver, and the arrivals.
 * Each is an entry with a time, so that a test can wait for any state and report the outcome of each event afterwards.
 * Bodies name their event as `"event-<number>"`; that of a deletion is `deletion of <user>`.
 */
import type { ServerResponse } from 'node:http';
import type { Kafka } from '@tailrace/kafka';
import { collect, eventually } from '@tailrace/testing';
import { judge, type Arrival, type Obligation, type Verdict } from './oracle.ts';
import { startReceiver, type Receiver, type ReceiverOptions } from '../receivers/receiver.ts';
import { headerOf } from '../kafka/topics.ts';

/** A request at a receiver; its answer, a complete 2xx or not; or a dead letter. */
export interface Entry {
  readonly what: 'asked' | 'delivered' | 'failed' | 'dead';
  readonly eventId: string;
  readonly destinationId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** When the answered request arrived; for a dead letter, when it was written. */
  readonly askedAt: number;
  readonly body: Buffer;
  /** The `X-Signature` of a request. */
  readonly signature?: string | undefined;
  /** The reason of a dead letter. */
  readonly reason?: string | undefined;
}

export interface Ledger extends AsyncDisposable {
  readonly entries: readonly Entry[];
  /** Requests that were answered with a 2xx. */
  readonly delivered: number;
  /** Obligations without an arrival so far. */
  readonly open: number;
  /** Requests without an answer. */
  readonly inFlight: number;
  /** Obligations that failed since then, milliseconds since the epoch, and have not arrived. */
  retrying(since: number): number;
  owe(obligation: Obligation): void;
  /** Nothing is waited for any more: the topics explain why the event does not arrive. */
  excuse(obligation: Pick<Obligation, 'eventId' | 'destinationId'>): void;
  /** Starts a receiver for a destination; its id is looked up for each request. */
  receive(destinationId: () => string, options?: ReceiverOptions): Promise<Receiver>;
  /** Resolves as soon as `holds`, which is evaluated again at every entry. */
  until(holds: () => boolean): Promise<void>;
  /** Waits until every obligation is met; on a timeout the verdict lists the missing ones. */
  drained(): Promise<void>;
  /** The verdict on what was owed so far, after the last dead letters are read. */
  verdict(): Promise<Verdict>;
}

/** Opens the ledger of all destinations whose dead letters go to this topic. */
export async function openLedger(kafka: Kafka, deadLetterTopic: string): Promise<Ledger> {
  await using opened = new AsyncDisposableStack();
  const obligations = new Map<string, Obligation>();
  const open = new Set<string>();
  const failedAt = new Map<string, number>();
  let inFlight = 0;
  let deliveredCount = 0;
  const entries = collect<Entry>('the ledger', ({ what, eventId }) => `${what} ${eventId}`);

  const enter = (entered: Entry): void => {
    const { what, at } = entered;
    const key = owedTo(entered);
    const owed = obligations.get(key)?.body;
    // Of equal bodies, one is kept.
    const entry = owed?.equals(entered.body) ? { ...entered, body: owed } : entered;
    if (what === 'asked') inFlight += 1;
    if (what === 'delivered' || what === 'failed') inFlight -= 1;
    if (what === 'delivered') deliveredCount += 1;
    if (what === 'failed') failedAt.set(key, at);
    if (what === 'delivered' || what === 'dead') {
      open.delete(key);
      failedAt.delete(key);
    }
    entries.add(entry);
  };
  const deadLetters = await kafka.follow({
    topic: deadLetterTopic,
    onRecord(record) {
      const { value, timestamp: at } = record;
      const body = value ?? Buffer.alloc(0);
      // The dead letter of a deleted user has no body.
      const eventId = body.length > 0 ? eventIdIn(body) : (headerOf(record, 'event-id') ?? '');
      const destinationId = headerOf(record, 'destination-id') ?? '';
      const reason = headerOf(record, 'reason');
      enter({ what: 'dead', eventId, destinationId, at, askedAt: at, body, reason });
    },
  });
  opened.defer(() => deadLetters.close());

  const all = opened.move();
  return {
    entries: entries.items,
    get delivered() {
      return deliveredCount;
    },
    get open() {
      return open.size;
    },
    get inFlight() {
      return inFlight;
    },
    retrying(since) {
      let count = 0;
      for (const at of failedAt.values()) if (at >= since) count += 1;
      return count;
    },
    owe(obligation) {
      const key = owedTo(obligation);
      if (obligations.has(key)) throw new Error(`the obligation ${key} is there twice`);
      obligations.set(key, obligation);
      open.add(key);
    },
    excuse(obligation) {
      open.delete(owedTo(obligation));
    },
    async receive(destinationId, { answer, ...options } = {}) {
      const receiver = await startReceiver({
        ...options,
        keepsRequests: false,
        answer(request, nth) {
          const { body, receivedAt: askedAt, headers } = request;
          const signature = headers['x-signature'];
          const asked = {
            eventId: eventIdIn(body),
            destinationId: destinationId(),
            askedAt,
            body,
            signature,
          };
          enter({ what: 'asked', at: askedAt, ...asked });
          return (response) => {
            response.once('close', () => {
              enter({ what: succeeded(response) ? 'delivered' : 'failed', at: Date.now(), ...asked });
            });
            if (answer) answer(request, nth)(response);
            else response.end();
          };
        },
      });
      return all.use(receiver);
    },
    async until(holds) {
      await entries.waitFor(holds);
    },
    async drained() {
      await eventually(() => open.size === 0).catch(() => undefined);
    },
    async verdict() {
      await deadLetters.refresh();
      return judge(obligations.values(), entries.items.flatMap(arrivalOf));
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Names an obligation. */
export function owedTo({ eventId, destinationId }: Pick<Obligation, 'eventId' | 'destinationId'>): string {
  return `${eventId} at ${destinationId}`;
}

export function eventIdIn(body: Buffer | null): string {
  const text = String(body);
  const deleted = /^\{"type":"delete","userId":"([^"]+)"/.exec(text)?.[1];
  if (deleted !== undefined) return `deletion of ${deleted}`;
  return /"(event-\d+)"/.exec(text)?.[1] ?? 'unknown';
}

function succeeded({ writableFinished, statusCode }: ServerResponse): boolean {
  return writableFinished && statusCode >= 200 && statusCode < 300;
}

function arrivalOf({ what, ...entry }: Entry): Arrival[] {
  return what === 'delivered' || what === 'dead' ? [{ how: what, ...entry }] : [];
}
