/** Ports that refuse connections until a server of the test listens on them. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { reservePort } from '@tailrace/local';

const loopback = '127.0.0.1';
const held: Socket[] = [];

/**
 * A port of loopback that refuses connections, for receivers that are down and for programs that need their port before they start. A server
 * may listen on it. Nothing else gets it while this process runs: it is the local port of a connection that stays open,
 * so that the system chooses it neither for another server nor for an outgoing connection.
 */
export async function closedPort(): Promise<number> {
  const [port = NaN] = await closedPorts(1);
  return port;
}

/** So many such ports in a row. */
export async function closedPorts(count: number): Promise<readonly number[]> {
  for (;;) {
    const [first] = await hold(0, 1);
    if (first === undefined) continue;
    const ports = [first, ...(await hold(first + 1, count - 1))];
    if (ports.length === count) return ports;
  }
}

/** Holds `count` ports from `first` on, or any one; fewer where one of them is in use. */
async function hold(first: number, count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const port = await holdOne(first === 0 ? 0 : first + nth);
    if (port === undefined) break;
    ports.push(port);
  }
  return ports;
}

async function holdOne(localPort: number): Promise<number | undefined> {
  const server = createServer().listen(0, loopback);
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: loopback, port, localAddress: loopback, localPort });
  try {
    await once(socket, 'connect');
  } catch {
    server.close();
    accepted.catch(() => undefined);
    return undefined;
  }
  const [peer] = await accepted;
  server.close();
  held.push(socket.unref(), peer.unref());
  const own = socket.localPort ?? NaN;
  // Two processes could hold connections from the same port.
  return (await reservePort(own)) ? own : undefined;
}
