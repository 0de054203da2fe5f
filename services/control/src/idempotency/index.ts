/**
 * Idempotency-Key (draft-ietf-httpapi-idempotency-key-header) on every POST: the same request with the same key gets the
 * same answer for 24 hours, from each instance.
 *
 * After an answer with 5xx it may be unknown whether the request was executed. The same request is then executed again,
 * under the same id: what creates something with that id creates it once. A change of the configuration is first settled.
 */
import { randomUUID } from 'node:crypto';
import type { ConfigEditor } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import type { Follower, Kafka, Publisher } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RecordReader } from '../records/reader.ts';
import { digestOf, openAnswer, sealAnswer } from './answer.ts';
import { decode, Keys, type KeyRecord, type KnownKey } from './keys.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The key that this request has, until it is answered. */
    idempotency: HeldKey | undefined;
  }
}

type HeldKey = Pick<KeyRecord, 'key' | 'caller' | 'claim' | 'request'> & {
  /** The id of the request, the same in each of its executions. */
  readonly id: string;
  readonly secret: string;
  /** Whether an execution before has written its change. */
  readonly isMade: boolean;
};

export interface IdempotencyOptions {
  readonly kafka: Pick<Kafka, 'follow' | 'publisher'>;
  readonly records: RecordReader;
  readonly topic: string;
  readonly log: Pick<Log, 'warn'>;
  readonly config: Pick<ConfigEditor, 'settle'>;
}

const giveUpAfterMs = 10_000;
const maxAnswerLength = 256 * 1024;
/** Of an answer that is given again. */
const keptHeaders = ['content-type', 'location', 'etag'] as const;

/** Resolves once the topic is read to its end. */
export async function openIdempotency(options: IdempotencyOptions): Promise<Idempotency> {
  const { kafka, topic } = options;
  const keys = new Keys();
  const follower = await kafka.follow({
    topic,
    onRecord(record) {
      keys.accept(record);
    },
  });
  return new Idempotency(options, keys, follower);
}

export class Idempotency {
  readonly #options: IdempotencyOptions;
  readonly #keys: Keys;
  readonly #follower: Follower;
  readonly #publisher: Publisher;

  constructor(options: IdempotencyOptions, keys: Keys, follower: Follower) {
    this.#options = options;
    this.#keys = keys;
    this.#follower = follower;
    this.#publisher = options.kafka.publisher({ giveUpAfterMs });
  }

  /** Adds the hooks to the scope of the API. */
  addTo(app: FastifyInstance): void {
    app.decorateRequest('idempotency', undefined);
    app.addHook('preHandler', async (request, reply) => {
      const given = request.headers['idempotency-key'];
      if (request.method !== 'POST' || given === undefined) return;
      await this.#begin(request, reply, String(given));
    });
    app.addHook('onSend', async (request, reply, payload) => {
      const held = request.idempotency;
      request.idempotency = undefined;
      if (held) await this.#end(held, reply, payload);
      return payload;
    });
  }

  close(): Promise<void> {
    return this.#follower.close();
  }

  /** Answers the request here, or lets it pass with the key. */
  async #begin(request: FastifyRequest, reply: FastifyReply, given: string): Promise<void> {
    const { caller, method, url, body, credential } = request;
    const owner = caller?.tokenId ?? caller?.fingerprint ?? '';
    const claim = randomUUID();
    const held: HeldKey = {
      key: digestOf(owner, given),
      caller: owner,
      claim,
      id: claim,
      isMade: false,
      request: digestOf(method, url, body === undefined ? '' : JSON.stringify(body)),
      secret: `${credential ?? ''}\n${given}`,
    };
    await this.#follower.refresh();
    const now = Date.now();
    const before = this.#keys.find(held.key, now);
    const isUnknown = before !== undefined && this.#keys.hasUnknownOutcome(held.key);
    if (before && !(isUnknown && before.request === held.request)) {
      await this.#answerAgain(before, held, reply);
      return;
    }
    if (!before && !this.#keys.hasPlace(owner, now)) {
      throw new TailraceError('too-many-requests', 'Too many Idempotency-Keys were used within 24 hours.');
    }
    const replaced = isUnknown && { replaces: before.claim };
    await this.#write(held, { state: 'begun', at: now, ...replaced });
    await this.#follower.refresh();
    const first = this.#keys.find(held.key, now);
    if (first?.claim === claim) {
      request.idempotency = { ...held, id: first.id };
      const [entry] = isUnknown ? await this.#options.config.settle(first.id) : [];
      if (entry === undefined) return;
      request.idempotency = { ...held, id: first.id, isMade: true };
      await answerMade(request, reply, entry);
    } else if (first) await this.#answerAgain(first, held, reply);
    else
      throw new TailraceError('conflict', 'The Idempotency-Key could not be taken. Send the request again.');
  }

  async #answerAgain(found: KnownKey, held: HeldKey, reply: FastifyReply): Promise<void> {
    const { records, topic } = this.#options;
    if (found.request !== held.request) throw new TailraceError('idempotency-key-reused');
    if (found.state !== 'done' || found.answeredAt === undefined) {
      const message = 'A request with this Idempotency-Key is in progress. Send it again later.';
      throw new TailraceError('conflict', message);
    }
    const place = { topic, partition: 0, offset: found.answeredAt };
    const record = await records.at(reply.request.caller, place);
    const answer = openAnswer(decode(record?.value ?? null)?.answer ?? '', held.secret);
    if (!answer)
      throw new TailraceError(
        'conflict',
        'The request was executed, but its answer was longer than 256 KB or has expired. Read what it has changed, or use another Idempotency-Key.',
      );
    await reply.status(answer.status).headers(answer.headers).send(answer.body);
  }

  async #end(held: HeldKey, reply: FastifyReply, payload: unknown): Promise<void> {
    const { statusCode: status } = reply;
    const at = Date.now();
    const body = payload ?? '';
    try {
      if (status >= 300) {
        await this.#write(held, { state: status < 500 && !held.isMade ? 'released' : 'unknown', at });
        return;
      }
      const headers = Object.fromEntries(
        keptHeaders.flatMap((name) => {
          const value = reply.getHeader(name);
          return typeof value === 'string' ? [[name, value] as const] : [];
        }),
      );
      // Also without its answer the request is not executed again.
      const isKept = typeof body === 'string' && body.length <= maxAnswerLength;
      const answer = isKept ? sealAnswer({ status, headers, body }, held.secret) : undefined;
      await this.#write(held, { state: 'done', at, answer });
    } catch (error) {
      this.#options.log.warn({ err: error }, 'answer of an idempotent request not stored');
    }
  }

  async #write(
    { key, caller, claim, request }: HeldKey,
    change: Pick<KeyRecord, 'state' | 'at' | 'replaces' | 'answer'>,
  ): Promise<void> {
    const { topic } = this.#options;
    const record: KeyRecord = { key, caller, claim, request, ...change };
    await this.#publisher.publish({ topic, partition: 0, key, value: JSON.stringify(record) });
  }
}

/** Answers a request whose first execution has changed the configuration, but whose answer is not known. */
async function answerMade(request: FastifyRequest, reply: FastifyReply, entry: string): Promise<void> {
  const [kind = '', id = ''] = entry.split('/');
  const path = `/v1/${kind}s/${id}`;
  if (request.routeOptions.url !== `/v1/${kind}s` || kind === 'token') {
    const message = `The request was executed, and its answer is not known. It changed ${entry}: read it, and use another Idempotency-Key.`;
    throw new TailraceError('conflict', message);
  }
  const { authorization, cookie } = request.headers;
  const current = await request.server.inject({
    method: 'GET',
    url: path,
    headers: {
      ...(authorization !== undefined && { authorization }),
      ...(cookie !== undefined && { cookie }),
    },
  });
  const { etag = '', 'content-type': type = 'application/json' } = current.headers;
  const isFound = current.statusCode === 200;
  await reply
    .status(isFound ? 201 : current.statusCode)
    .headers({ 'content-type': type, etag, ...(isFound && { location: path }) })
    .send(current.body);
}
