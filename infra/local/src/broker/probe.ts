/**
 * Checks whether a broker is ready, with Kafka's own protocol. A broker accepts connections some seconds before it
 * has registered itself; until then clients get an empty list of brokers. Written by hand, so that the start of a
 * broker needs no Kafka client.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const startTimeoutMs = 90_000;

const metadataKey = 3;
const metadataVersion = 4;
const correlationId = 1;

/** Polls until the broker is ready, `isOver()` returns true, or a minute and a half has passed. */
export async function untilReady(
  host: string,
  port: number,
  isOver: () => boolean,
): Promise<'ready' | 'over' | 'late'> {
  const deadline = Date.now() + startTimeoutMs;
  while (!isOver()) {
    if ((await countBrokers(host, port)) > 0) return 'ready';
    if (Date.now() > deadline) return 'late';
    await sleep(100);
  }
  return 'over';
}

/** The number of brokers that the one at `host:port` knows. 0 where it does not respond within `timeoutMs`. */
export function countBrokers(host: string, port: number, timeoutMs = 2_000): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let answer = Buffer.alloc(0);
    const finish = (count: number): void => {
      socket.destroy();
      resolve(count);
    };
    socket.setTimeout(timeoutMs, () => {
      finish(0);
    });
    socket.on('error', () => {
      finish(0);
    });
    socket.on('close', () => {
      finish(0);
    });
    socket.on('connect', () => socket.write(metadataRequest()));
    socket.on('data', (chunk) => {
      answer = Buffer.concat([answer, chunk]);
      // Size, correlation id, throttle time, then the length of the array of brokers: four bytes each.
      if (answer.length >= 16) finish(answer.readInt32BE(12));
    });
  });
}

function metadataRequest(): Buffer {
  const clientId = Buffer.from('tailrace-local');
  const noTopics = [0, 0, 0, 0];
  const noCreation = [0];
  const request = Buffer.concat([
    int16(metadataKey),
    int16(metadataVersion),
    int32(correlationId),
    int16(clientId.length),
    clientId,
    Buffer.from([...noTopics, ...noCreation]),
  ]);
  return Buffer.concat([int32(request.length), request]);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
