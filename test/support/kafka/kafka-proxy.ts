/**
 * A TCP proxy between a client and a broker that can hang, drop responses, and cut them off: the broker executes the request,
 * and the client gets no response, or the first half of it. Responses of Kafka contain the address of the broker, so the proxy replaces it by its own.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { collect, type Collected } from '@tailrace/testing';

export interface KafkaProxy extends AsyncDisposable {
  /** Bootstrap servers for the client. */
  readonly brokers: readonly string[];
  /** So many answers to produce requests, from now on, are not passed on; the connection ends instead. */
  loseProduceAnswers: number;
  /** The same for answers to requests that end a transaction. */
  loseCommitAnswers: number;
  /** The same for answers to requests to join a group. */
  loseJoinAnswers: number;
  /** So many answers, from now on, are passed on by half; the connection ends then. */
  halveAnswers: number;
  /** Passes on no answers to produce requests until `resumeProduceAnswers()`. */
  readonly pauseProduceAnswers: () => void;
  readonly resumeProduceAnswers: () => void;
  /** The same for answers to requests to join a group. */
  readonly pauseJoinAnswers: () => void;
  readonly resumeJoinAnswers: () => void;
  /** Passes on nothing in either direction until `resume()`. Connections stay open, and new ones are accepted. */
  readonly hang: () => void;
  readonly resume: () => void;
  /** Passes on nothing more on the connections that are open now, which stay open. */
  readonly forget: () => void;
  /** Closes all connections, and accepts none until `start()`. */
  readonly stop: () => void;
  readonly start: () => void;
  readonly lost: Collected<{ readonly at: number }>;
}

/** Kafka's numbers of requests. */
const produce = 0;
const joinGroup = 11;
const losable = new Map<number, 'loseProduceAnswers' | 'loseCommitAnswers' | 'loseJoinAnswers'>([
  [produce, 'loseProduceAnswers'],
  [joinGroup, 'loseJoinAnswers'],
  [26 /* end of a transaction */, 'loseCommitAnswers'],
]);
const namesBrokers = new Set([3 /* metadata */, 10 /* find coordinator */]);

/** @param broker `host:port` as the broker itself advertises it. */
export async function startKafkaProxy(broker: string): Promise<KafkaProxy> {
  const [host = '', port = ''] = broker.split(':');
  const lost = collect<{ at: number }>('the lost answers', ({ at }) => String(at));
  const sockets = new Set<Socket>();
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = server.address() as AddressInfo;
  let isStopped = false;
  /** The answers that wait, by request; of others, answers are passed on. */
  const paused = new Map<number, (() => void)[]>();
  const pause = (request: number) => (): void => {
    if (!paused.has(request)) paused.set(request, []);
  };
  const resume = (request: number) => (): void => {
    for (const passOn of paused.get(request) ?? []) passOn();
    paused.delete(request);
  };
  /** The frames that wait; undefined while the proxy does not hang. */
  let hung: (() => void)[] | undefined;
  const passOn = (pass: () => void): void => {
    if (hung) hung.push(pass);
    else pass();
  };
  const proxy: KafkaProxy = {
    brokers: [`127.0.0.1:${own.port}`],
    loseProduceAnswers: 0,
    loseCommitAnswers: 0,
    loseJoinAnswers: 0,
    halveAnswers: 0,
    lost,
    pauseProduceAnswers: pause(produce),
    resumeProduceAnswers: resume(produce),
    pauseJoinAnswers: pause(joinGroup),
    resumeJoinAnswers: resume(joinGroup),
    hang() {
      hung ??= [];
    },
    resume() {
      const waiting = hung ?? [];
      hung = undefined;
      for (const pass of waiting) pass();
    },
    forget() {
      for (const socket of sockets) socket.pause();
    },
    stop() {
      isStopped = true;
      for (const socket of sockets) socket.destroy();
    },
    start() {
      isStopped = false;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };

  server.on('connection', (client) => {
    if (isStopped) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), host);
    const asked = new Map<number, number>();
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => {
        sockets.delete(socket);
        if (!client.writableEnded) end();
      });
      socket.on('error', end);
    }
    client.on(
      'data',
      eachFrame((frame) => {
        asked.set(frame.readInt32BE(8), frame.readInt16BE(4));
        passOn(() => upstream.write(frame));
      }),
    );
    upstream.on(
      'data',
      eachFrame((frame) => {
        const correlationId = frame.readInt32BE(4);
        const request = asked.get(correlationId);
        asked.delete(correlationId);
        const losing = request === undefined ? undefined : losable.get(request);
        if (losing && proxy[losing] > 0) {
          proxy[losing] -= 1;
          lost.add({ at: Date.now() });
          end();
          return;
        }
        if (proxy.halveAnswers > 0) {
          proxy.halveAnswers -= 1;
          lost.add({ at: Date.now() });
          client.end(frame.subarray(0, frame.length >> 1));
          upstream.destroy();
          return;
        }
        if (request !== undefined && namesBrokers.has(request)) {
          replace(frame, address(host, Number(port)), address('127.0.0.1', own.port));
        }
        const answer = (): void => void client.write(frame);
        const waiting = paused.get(request ?? NaN);
        if (waiting) waiting.push(answer);
        else passOn(answer);
      }),
    );
  });
  return proxy;
}

/** Cuts a stream into Kafka's frames, each beginning with its length as 32 bits. */
function eachFrame(onFrame: (frame: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const length = 4 + rest.readInt32BE(0);
      const frame = Buffer.from(rest.subarray(0, length));
      rest = rest.subarray(length);
      onFrame(frame);
    }
  };
}

function address(host: string, port: number): Buffer {
  const bytes = Buffer.alloc(host.length + 4);
  bytes.write(host);
  bytes.writeInt32BE(port, host.length);
  return bytes;
}

/** In place; both have the same length, since brokers of tests are on 127.0.0.1 as well. */
function replace(frame: Buffer, from: Buffer, to: Buffer): void {
  if (from.length !== to.length) throw new Error('the broker of a proxy must be on 127.0.0.1');
  for (let at = frame.indexOf(from); at >= 0; at = frame.indexOf(from, at + to.length)) to.copy(frame, at);
}
