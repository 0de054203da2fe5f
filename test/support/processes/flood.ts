/** Many requests at the same time, written as bytes as a hostile client does, and their answers. */
import { readFileSync } from 'node:fs';
import { openMany, type RawConnection } from './ingest.ts';

export interface RawRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** The bytes of an HTTP/1.1 request with `Connection: close`. */
export function requestBytes({ path, headers = {}, body = '' }: RawRequest): Buffer {
  const bytes = Buffer.from(body);
  const lines = Object.entries({ connection: 'close', 'content-length': String(bytes.length), ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head}\r\n`), bytes]);
}

/** The number of answers by status; 0 means that the connection ended without an answer. */
export type Outcomes = Readonly<Record<number, number>>;

/** Sends `request` on `count` connections at the same time, and resolves when all of them have ended. */
export async function flood(url: string, count: number, request: RawRequest): Promise<Outcomes> {
  const bytes = requestBytes(request);
  const connections = await openMany(url, count);
  for (const connection of connections) connection.write(bytes);
  return outcomesOf(connections);
}

export async function outcomesOf(connections: readonly RawConnection[]): Promise<Outcomes> {
  const outcomes: Record<number, number> = {};
  for (const connection of connections) {
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(await connection.received)?.[1] ?? 0);
    outcomes[status] = (outcomes[status] ?? 0) + 1;
  }
  return outcomes;
}

/** The peak resident memory of process `pid` since its start; undefined if the system does not report it. */
export function peakResidentBytes(pid: number): number | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
