/**
 * Unexpected input, by seed: codecs of other producers, and damaged or hostile batches, headers, numbers and bodies.
 * Each kind states what Tailrace must do with it.
 */
import { Buffer } from 'node:buffer';
import { connect } from 'node:net';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import lz4 from 'lz4-napi';
import snappy from 'snappy';
import { backOff } from '../support/steadily.ts';
import type { RawBatch, RawRecord } from '../support/kafka/raw-producer.ts';

export interface OddInputContext {
  readonly sourceId: string;
  readonly destinationId: string;
  readonly writeKey: string;
  readonly ingestUrl: string;
  /** Makes a new id; its event must arrive, with `text` in its body if given. */
  readonly oblige: (text?: string) => string;
  /** Expects this many more records in `events.rejected`. */
  readonly rejects: (records: number) => void;
  readonly produce: (topic: 'events' | 'tier', batch: RawBatch) => Promise<void>;
  /** Sends a POST to ingest; resolves with the status. */
  readonly post: (
    route: string,
    body: string | Buffer,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<number>;
  readonly expectStatus: (what: string, status: number, allowed: readonly number[]) => void;
}

export type OddInput = (context: OddInputContext) => Promise<void>;

const callOf = (id: string, properties = '{}'): string =>
  `{"type":"track","event":"Odd","userId":"${id}","messageId":"${id}","properties":${properties}}`;

const good = (context: OddInputContext, headers: RawRecord['headers'] = []): RawRecord => {
  const id = context.oblige();
  return { key: id, value: callOf(id), headers: [...headers, ['source-id', context.sourceId]] };
};

const numbers = [
  '1234567890123456789',
  '12345678901234567890',
  '0.1234567890123456789',
  '1e400',
  '1e-400',
  '25.5',
];

const zeros = Buffer.alloc(64 * 2 ** 20);
/** Half a megabyte when inflated; each object takes a hundred times the size of its text when parsed. */
const wideBody = gzipSync(`{"batch":[],"x":[${Array.from({ length: 160_000 }, () => '{}').join(',')}]}`);
const plain = (all: Buffer): Buffer => all;
const compressors: readonly ((all: Buffer) => Buffer)[] = [
  plain,
  (all) => gzipSync(all),
  (all) => snappy.compressSync(all),
  (all) => lz4.compressFrameSync(all),
  (all) => zstdCompressSync(all),
];

function wrongChecksum(all: Buffer): Buffer {
  const frame = lz4.compressFrameSync(all, { contentChecksum: true });
  frame[frame.length - 1] = (frame.at(-1) ?? 0) ^ 1;
  return frame;
}

/** The kinds of odd input; a number from 0 to 1 makes one of a kind differ from the next. */
export const oddInputs: Readonly<Record<string, (chance: number) => OddInput>> = {
  'any codec': (chance) => async (context) => {
    const codec = Math.floor(chance * compressors.length);
    const records = Array.from({ length: 1 + Math.floor(chance * 50) }, () => good(context));
    await context.produce('events', { records, codec, compress: compressors[codec] ?? plain });
  },
  'bytes behind the end of gzip': () => async (context) => {
    const compress = (all: Buffer): Buffer => Buffer.concat([gzipSync(all), Buffer.from('behind')]);
    await context.produce('events', { records: [good(context)], codec: 1, compress });
  },
  'a batch that cannot be decoded': () => async (context) => {
    context.rejects(1);
    await context.produce('events', {
      records: [{ value: '{}' }, { value: '{}' }],
      codec: 3,
      compress: wrongChecksum,
    });
  },
  'a batch that is huge when decoded': (chance) => async (context) => {
    const codec = chance < 0.5 ? 1 : 4;
    context.rejects(1);
    await context.produce('events', {
      records: [{ value: zeros }],
      codec,
      compress: compressors[codec] ?? plain,
    });
  },
  'strange headers': (chance) => async (context) => {
    const strange: RawRecord['headers'] = [
      ['x', null],
      ['x', 'twice'],
      ['__proto__', 'p'],
      ['traceparent', null],
      ['', ''],
      ['1', '1'],
    ];
    if (chance < 0.5) {
      await context.produce('events', { records: [good(context, strange)] });
    } else {
      context.rejects(1);
      await context.produce('events', { records: [{ key: 'k', value: 'no JSON', headers: strange }] });
    }
  },
  'an empty write-key header': () => async (context) => {
    const id = context.oblige();
    const value = callOf(id).replace('{', `{"writeKey":"${context.writeKey}",`);
    await context.produce('events', { records: [{ key: id, value, headers: [['write-key', '']] }] });
  },
  'a key of 900 KB': () => async (context) => {
    context.rejects(1);
    await context.produce('events', { records: [{ key: 'k'.repeat(900_000), value: 'no JSON' }] });
  },
  'a frame without a registry': () => async (context) => {
    context.rejects(1);
    await context.produce('events', { records: [{ key: 'k', value: Buffer.from([0, 0, 0, 0, 9, 1, 2]) }] });
  },
  'numbers with many digits': (chance) => async (context) => {
    const number = numbers[Math.floor(chance * numbers.length)] ?? '1';
    const text = `"n":${number}`;
    const [overHttp, inKafka] = [context.oblige(text), context.oblige(text)];
    context.expectStatus('numbers', await context.post('track', callOf(overHttp, `{${text}}`)), [200]);
    const headers: RawRecord['headers'] = [['source-id', context.sourceId]];
    await context.produce('events', {
      records: [{ key: inKafka, value: callOf(inKafka, `{${text}}`), headers }],
    });
  },
  'calls full of 1e20': () => async (context) => {
    const list = (count: number): string =>
      `{"list":[${Array.from({ length: count }, () => '1e20').join(',')}]}`;
    const small = await context.post('track', callOf(context.oblige(), list(1_400)));
    context.expectStatus('1e20', small, [200]);
    const large = await context.post('track', callOf('large', list(6_000)));
    context.expectStatus('1e20, more than 32 KB when they are written', large, [413]);
    context.rejects(1);
    const batch = `{"batch":[${callOf(context.oblige())},${callOf('huge', list(100_000))}]}`;
    context.expectStatus('1e20 in a batch', await context.post('batch', batch), [200]);
  },
  'half a surrogate pair in an id': () => async (context) => {
    const body = '{"event":"e","userId":"u","messageId":"m\\ud800"}';
    context.expectStatus('surrogate', await context.post('track', body), [400]);
  },
  'a call nested thousands deep in a good batch': () => async (context) => {
    const id = context.oblige();
    context.rejects(1);
    const deep = `${'{"a":'.repeat(4_000)}1${'}'.repeat(4_000)}`;
    const body = `{"batch":[${callOf(id)},{"type":"track","event":"e","userId":"u","properties":${deep}}]}`;
    context.expectStatus('deep', await context.post('batch', body), [200]);
  },
  'a hundred bodies that are small and parse to much': (chance) => async (context) => {
    const headers = {
      'content-encoding': 'gzip',
      ...(chance < 0.5 && { authorization: `Basic ${btoa('wrong:')}` }),
    };
    const statuses = await Promise.all(
      Array.from({ length: 100 }, () => context.post('batch', wideBody, headers)),
    );
    for (const status of statuses) context.expectStatus('wide', status, [200, 401, 413, 503]);
  },
  'a batch of 2,500 calls': () => async (context) => {
    const ids = Array.from({ length: 2_500 }, () => context.oblige());
    const body = `{"batch":[${ids.map((id) => `{"type":"page","userId":"${id}","messageId":"${id}"}`).join(',')}]}`;
    context.expectStatus('large batch', await context.post('batch', body), [200]);
  },
  'a body that trickles and ends': () => async (context) => {
    const { hostname, port } = new URL(context.ingestUrl);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(
      `POST /v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${btoa(`${context.writeKey}:`)}\r\nContent-Length: 100\r\n\r\n{"ev`,
    );
    await backOff();
    socket.destroy();
  },
  'a retry that is due in 2099': () => async (context) => {
    const id = context.oblige();
    const headers = Object.entries({
      'delivery-id': id,
      'event-id': id,
      'source-id': context.sourceId,
      'destination-id': context.destinationId,
      type: 'track',
      attempt: '1',
      'due-at': '2099-01-01T00:00:00.000Z',
    });
    const record = { key: `${context.destinationId}/${id}`, value: callOf(id), headers };
    await context.produce('tier', { records: [record] });
  },
};
