/**
 * Defect: a connection of the library has one socket after another, and mixes them up. The bytes of an answer that was cut off stay in its
 * buffer, and what a former socket still receives is added to it. Answers of the next socket are taken for the rest, so every request times
 * out from then on, also after the broker was restarted, and after the consumer was.
 *
 * Upstream: no issue found.
 *
 * Patch: a connection opens with an empty buffer, and after its former socket and the requests on it are gone.
 */
import type { Socket } from 'node:net';
import { libraryModule, replacing } from '../apply.ts';

/** The library's class: the members that are used here. */
interface Connection {
  readonly host: string;
  readonly port: number;
  readonly socket: Socket | undefined;
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
  isConnected(): boolean;
  connect(): Promise<unknown>;
  rejectRequests(error: Error): void;
}

// oxlint-disable-next-line typescript/no-explicit-any -- TypeScript asks for it where a class is extended.
type ConnectionClass = new (...options: any[]) => Connection;

interface Errors {
  readonly KafkaJSConnectionClosedError: new (message: string, of: { host: string; port: number }) => Error;
}

/** Of the length of an answer, with which it begins. */
const lengthBytes = 4;

export const oneSocket = replacing('network/connection', (Original: ConnectionClass): ConnectionClass => {
  const { KafkaJSConnectionClosedError } = libraryModule('errors') as Errors;
  return class ConnectionOfOneSocket extends Original {
    override connect(): Promise<unknown> {
      if (!this.isConnected()) this.#leaveSocket();
      return super.connect();
    }

    #leaveSocket(): void {
      this.socket?.destroy();
      this.chunks = [];
      this.bytesBuffered = 0;
      this.bytesNeeded = lengthBytes;
      const { host, port } = this;
      this.rejectRequests(new KafkaJSConnectionClosedError('Closed connection', { host, port }));
    }
  };
});
