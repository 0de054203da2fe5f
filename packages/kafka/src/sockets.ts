/** The sockets of one client of the library. */
import type { Socket } from 'node:net';
import type { ISocketFactory } from 'kafkajs';
import type { OnRequest } from './observer.ts';
import { libraryModule } from './patches/apply.ts';
import { observeRequests } from './patches/connections/observed-requests.ts';

const createSocketFactory = libraryModule('network/socketFactory') as () => ISocketFactory;

export interface OpenSockets {
  readonly factory: ISocketFactory;
  readonly count: number;
  /** From now on they do not keep the process alive. A consumer may still leave its group, for which `close` does not wait. */
  release(): void;
}

/** The sockets of a client whose requests are reported to `onRequest`. */
export function openSockets(onRequest?: OnRequest): OpenSockets {
  const createSocket = createSocketFactory();
  const sockets = new Set<Socket>();
  let released = false;
  const factory: ISocketFactory = (options) => {
    const socket = createSocket(options);
    if (released) socket.unref();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  if (onRequest) observeRequests(factory, onRequest);
  return {
    factory,
    get count() {
      return sockets.size;
    },
    release() {
      released = true;
      for (const socket of sockets) socket.unref();
    },
  };
}
