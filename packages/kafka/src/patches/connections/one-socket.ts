/**
 * Defects: a connection of the library has one socket after another, and does not tell them apart.
 *
 * - The bytes of an answer that was cut off stay in its buffer, and what a former socket still receives is added to it. Answers of the next
 *   socket are taken for the rest, so every request times out from then on, also after the broker was restarted, and after the consumer
 *   was.
 * - A socket whose packets are lost is used until the operating system gives up, which takes about a quarter of an hour. Every request times
 *   out until then.
 * - A connection that is closed while it opens is open afterwards. Nothing closes it then, and it keeps the process alive.
 *
 * Upstream: the second is tulios/kafkajs#919; no issue found for the others.
 *
 * Patch: a connection opens with an empty buffer, after its former socket and the requests on it are gone; it closes when a request has
 * timed out; and a socket that is opening when it closes is destroyed.
 */
import type { Socket } from 'node:net';
import { libraryModule, replacing, type LibraryClass } from '../apply.ts';

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
  disconnect(): Promise<unknown>;
  send(message: object): Promise<unknown>;
  rejectRequests(error: Error): void;
}

interface Errors {
  readonly KafkaJSConnectionClosedError: new (message: string, of: { host: string; port: number }) => Error;
}

/** Of the length of an answer, with which it begins. */
const lengthBytes = 4;

export const oneSocket = replacing(
  'network/connection',
  (Original: LibraryClass<Connection>): LibraryClass<Connection> => {
    const { KafkaJSConnectionClosedError } = libraryModule('errors') as Errors;
    return class ConnectionOfOneSocket extends Original {
      #isOpening = false;

      override async connect(): Promise<unknown> {
        if (this.isConnected()) return true;
        this.#leaveSocket();
        this.#isOpening = true;
        try {
          return await super.connect();
        } catch (error) {
          this.socket?.destroy();
          throw error;
        } finally {
          this.#isOpening = false;
        }
      }

      override disconnect(): Promise<unknown> {
        if (this.#isOpening) this.socket?.destroy(new Error('closed while it was opened'));
        return super.disconnect();
      }

      override async send(message: object): Promise<unknown> {
        const { socket } = this;
        try {
          return await super.send(message);
        } catch (error) {
          const isTimeout = (error as Partial<Error>).name === 'KafkaJSRequestTimeoutError';
          // Others of the socket may have timed out in the same moment, and the next socket be opening.
          if (isTimeout && this.socket === socket && !socket?.destroyed) {
            this.#leaveSocket();
            void this.disconnect();
          }
          throw error;
        }
      }

      #leaveSocket(): void {
        const { host, port, socket } = this;
        socket?.destroy();
        this.chunks = [];
        this.bytesBuffered = 0;
        this.bytesNeeded = lengthBytes;
        this.rejectRequests(new KafkaJSConnectionClosedError('Closed connection', { host, port }));
      }
    };
  },
);
