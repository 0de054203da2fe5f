/**
 * Defect: the library copies each request twice, into buffers that it first fills with zeros.
 *
 * Upstream: no issue found.
 *
 * Patch: one copy into a buffer of the right size.
 */
import { replacing } from '../apply.ts';

interface Encoded {
  readonly buffer: Buffer;
}

interface FramedRequest {
  readonly correlationId: number;
  readonly clientId: string;
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly encode: () => Promise<Encoded>;
  };
}

/** A complete request: its length, its header (version 1) and its body. */
async function frameRequest({ correlationId, clientId, request }: FramedRequest): Promise<Encoded> {
  const { buffer: payload } = await request.encode();
  const idBytes = Buffer.byteLength(clientId);
  const payloadAt = 14 + idBytes;
  const buffer = Buffer.allocUnsafe(payloadAt + payload.length);
  buffer.writeInt32BE(buffer.length - 4, 0);
  buffer.writeInt16BE(request.apiKey, 4);
  buffer.writeInt16BE(request.apiVersion, 6);
  buffer.writeInt32BE(correlationId, 8);
  buffer.writeInt16BE(idBytes, 12);
  buffer.write(clientId, 14);
  payload.copy(buffer, payloadAt);
  return { buffer };
}

export const requestFrame = replacing<typeof frameRequest>('protocol/request', () => frameRequest);
