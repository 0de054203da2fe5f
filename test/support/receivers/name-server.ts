/** A name server on loopback, over UDP and TCP. The answer is a function of the question. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { isIPv6 } from 'node:net';

export interface Question {
  /** In lower case, without the dot at its end. */
  readonly name: string;
  readonly type: 'A' | 'AAAA';
  readonly over: 'udp' | 'tcp';
}

/** Addresses, of which those of the requested type are sent, or the way in which it fails. `silence` sends no answer. */
export type NameAnswer =
  | readonly string[]
  | 'no-such-name'
  | 'server-failure'
  | 'refused'
  | 'too-long'
  | 'silence';

export interface NameServer extends AsyncDisposable {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  readonly questions: readonly Question[];
  /** The number of questions for a name, of any type. */
  asked(name: string): number;
}

const codes = { 'no-such-name': 3, 'server-failure': 2, refused: 5, 'too-long': 0 };
const types = new Map([
  [1, 'A'],
  [28, 'AAAA'],
] as const);
const headerBytes = 12;

export async function startNameServer(
  answer: (question: Question) => NameAnswer | Promise<NameAnswer>,
): Promise<NameServer> {
  const questions: Question[] = [];
  const respond = async (message: Buffer, over: Question['over']): Promise<Buffer | undefined> => {
    const { question, end } = questionOf(message, over);
    questions.push(question);
    const given = await answer(question);
    return given === 'silence' ? undefined : replyTo(message.subarray(0, end), question, given);
  };

  const udp = createSocket('udp4');
  udp.on('message', (message, { port, address }) => {
    void respond(message, 'udp').then((reply) => {
      if (reply && !closed) udp.send(reply, port, address);
    });
  });
  let closed = false;
  const sockets = new Set<Socket>();
  const tcp = createServer((socket) => {
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket
      .on('error', () => undefined)
      .on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
          const end = 2 + received.readUInt16BE(0);
          void respond(received.subarray(2, end), 'tcp').then((reply) => {
            if (reply) socket.write(Buffer.concat([uint16(reply.length), reply]));
          });
          received = received.subarray(end);
        }
      });
  });
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address() as AddressInfo;
  udp.bind(port, '127.0.0.1');
  try {
    await once(udp, 'listening');
  } catch {
    // Another socket has the port for UDP.
    tcp.close();
    return startNameServer(answer);
  }

  return {
    address: `127.0.0.1:${port}`,
    questions,
    asked: (name) => questions.filter((question) => question.name === name).length,
    async [Symbol.asyncDispose]() {
      closed = true;
      udp.close();
      for (const socket of sockets) socket.destroy();
      tcp.close();
      await once(tcp, 'close');
    },
  };
}

function questionOf(message: Buffer, over: Question['over']): { question: Question; end: number } {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = types.get(message.readUInt16BE(at + 1) as 1 | 28);
  if (!type) throw new Error('the test asks for addresses only');
  return { question: { name: labels.join('.').toLowerCase(), type, over }, end: at + 5 };
}

function replyTo(asked: Buffer, { type, over }: Question, answer: Exclude<NameAnswer, 'silence'>): Buffer {
  const addresses = typeof answer === 'string' ? [] : answer;
  const records = addresses.filter((address) => isIPv6(address) === (type === 'AAAA')).map(recordOf);
  const truncated = answer === 'too-long' && over === 'udp';
  const code = typeof answer === 'string' ? codes[answer] : 0;
  const header = Buffer.from(asked);
  // The flags: answer, recursion desired and available; truncated if requested.
  header.writeUInt16BE(0x8180 | (truncated ? 0x0200 : 0) | code, 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt16BE(0, 10);
  return Buffer.concat([header, ...records]);
}

function recordOf(address: string): Buffer {
  const data = isIPv6(address)
    ? Buffer.concat(expanded(address).map((group) => uint16(group)))
    : Buffer.from(address.split('.').map(Number));
  const nameOfQuestion = 0xc000 | headerBytes;
  const [internet, ttlHigh, ttlLow] = [1, 0, 60];
  return Buffer.concat(
    [nameOfQuestion, isIPv6(address) ? 28 : 1, internet, ttlHigh, ttlLow, data.length]
      .map((value) => uint16(value))
      .concat(data),
  );
}

function expanded(address: string): number[] {
  const [left = [], right = []] = address
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':').map((group) => Number.parseInt(group, 16))));
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
