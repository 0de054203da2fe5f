/** A foreign producer: librdkafka, which most languages use, through its Python interface. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runPython } from '../clients.ts';

export interface ForeignRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: string | null;
  readonly value: string | Buffer | null;
  /** In the order to be written; names may repeat and values be null. */
  readonly headers: readonly (readonly [name: string, value: string | null])[];
}

const program = path.join(import.meta.dirname, 'producers/records.py');

/** Resolves when Kafka has acknowledged all of them. */
export async function produceWithLibrdkafka(
  brokers: readonly string[],
  records: readonly ForeignRecord[],
): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-librdkafka-'));
  const file = path.join(folder, 'records.json');
  const inBase64 = records.map((record) => ({
    ...record,
    value: record.value === null ? null : Buffer.from(record.value).toString('base64'),
  }));
  try {
    await writeFile(file, JSON.stringify(inBase64));
    await runPython(program, [brokers.join(','), file]);
  } finally {
    await rm(folder, { recursive: true });
  }
}
