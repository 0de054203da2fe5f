/**
 * Checks whether a broker is ready, with Kafka's own protocol. A broker accepts connections some seconds before it
 * has registered itself; until then clients get an empty list of brokers. Written by hand, so that the start of a
 * broker needs no Kafka client.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const startTimeoutMs = 90_000;

/** Asks for the brokers alone: Metadata (key 3, version 4, correlation id 1, no client id) of no topics, none created. */
const metadataRequest = Buffer.from(
  '0000000f' + '0003' + '0004' + '00000001' + 'ffff' + '00000000' + '00',
  'hex',
);

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

/** The number of brokers that the one at `host:port` knows. 0 where it does not respond within two seconds. */
export async function countBrokers(host: string, port: number): Promise<number> {
  const socket = connect({ host, port });
  socket.setTimeout(2_000, () => socket.destroy());
  socket.write(metadataRequest);
  let answer = Buffer.alloc(0);
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      answer = Buffer.concat([answer, chunk]);
      // Size, correlation id, throttle time, then the length of the array of brokers: four bytes each.
      if (answer.length >= 16) return answer.readInt32BE(12);
    }
  } catch {
    // It does not listen, or has ended.
  }
  return 0;
}
