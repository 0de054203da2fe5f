/** Records as the rest of Tailrace sees them: nothing of the client library shows through. */

export interface OutgoingRecord {
  readonly topic: string;
  /** Chosen from the key where absent. */
  readonly partition?: number | undefined;
  readonly key: string | Buffer | null;
  readonly value: string | Buffer | null;
  readonly headers?: Readonly<Record<string, string | Buffer>> | undefined;
}

export interface ConsumedRecord {
  readonly topic: string;
  readonly partition: number;
  /** Well inside the safe integers: 2^53 records are centuries of a million a second. */
  readonly offset: number;
  /** Milliseconds since the epoch: when it was produced, or appended, as the topic is configured. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** Of a repeated header, the last. */
  readonly headers: Readonly<Record<string, Buffer>>;
}

/** The client library gives a repeated header as a list. */
export function lastOfEach(
  headers: Readonly<Record<string, Buffer | string | (Buffer | string)[] | undefined>> | undefined,
): Record<string, Buffer> {
  const last: Record<string, Buffer> = {};
  for (const name in headers) {
    const value = headers[name];
    const single = Array.isArray(value) ? value.at(-1) : value;
    if (single !== undefined) last[name] = typeof single === 'string' ? Buffer.from(single) : single;
  }
  return last;
}
