/** The bare reader of the bench of control: kafkajs as it is, JSON, and one SQLite table. Its argument is a {@link BareReaderSettings}. */
import { DatabaseSync } from 'node:sqlite';
import { zstdDecompressSync } from 'node:zlib';
import kafkajs, { CompressionTypes, logLevel } from 'kafkajs';
import { connectToParent } from '../processes/children.ts';

export interface BareReaderSettings {
  readonly brokers: readonly string[];
  readonly topics: readonly string[];
  readonly file: string;
}

/** The number of records of which it says when it has read them. */
export interface ToBareReader {
  readonly wanted: number;
}
export type FromBareReader = { readonly kind: 'reading' } | { readonly kind: 'read' };

const { brokers, topics, file } = JSON.parse(process.argv[2] ?? '') as BareReaderSettings;
const send: (message: FromBareReader) => void = connectToParent();
let read = 0;
let wanted = Infinity;
const look = (): void => {
  if (read < wanted) return;
  wanted = Infinity;
  send({ kind: 'read' });
};
process.on('message', (message) => {
  ({ wanted } = message as ToBareReader);
  look();
});
const db = new DatabaseSync(file);
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE records (key, at, value)');
const insert = db.prepare('INSERT INTO records VALUES (?, ?, ?)');
// The library has no codec of its own for what the writer compresses.
kafkajs.CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: () => Promise.reject(new Error('nothing is written here')),
  decompress: (bytes: Buffer) => Promise.resolve(zstdDecompressSync(bytes)),
});
const kafka = new kafkajs.Kafka({
  brokers: [...brokers],
  clientId: 'bare-reader',
  logLevel: logLevel.NOTHING,
});
const consumer = kafka.consumer({ groupId: 'bare-reader' });
consumer.on(consumer.events.GROUP_JOIN, () => {
  send({ kind: 'reading' });
});
await consumer.connect();
await consumer.subscribe({ topics: [...topics], fromBeginning: true });
await consumer.run({
  autoCommitInterval: 500,
  eachBatch: ({ batch }) => {
    db.exec('BEGIN');
    for (const { key, timestamp, value, headers } of batch.messages) {
      const text = headers?.['delivery-id'] ?? JSON.stringify(JSON.parse(String(value)));
      insert.run(String(key), timestamp, String(text));
    }
    db.exec('COMMIT');
    read += batch.messages.length;
    look();
    return Promise.resolve();
  },
});
