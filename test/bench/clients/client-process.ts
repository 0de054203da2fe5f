/**
 * Measures the cost of track calls of a web server with one client library, in its own process. Arguments: the library,
 * the endpoint, the number of calls. Prints {@link ClientCost} as JSON.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Analytics as PublicAnalytics } from '@segment/analytics-node';
import { Analytics } from '../../../packages/analytics-node/src/index.ts';

/** Microseconds of CPU time a call. */
export interface ClientCost {
  /** CPU time of the thread within the call. */
  readonly call: number;
  /** The same until the thread is free for other requests: the call, and the promises that it resolves. */
  readonly turn: number;
  /** CPU time of the whole process until every call is sent. */
  readonly sent: number;
}

type Message = ReturnType<typeof messageOf>;

interface Client {
  readonly track: (message: Message) => void;
  readonly close: () => Promise<unknown>;
}

/** Calls in one turn of the event loop, as with many concurrent requests. */
const callsPerTurn = 10;
const writeKey = 'wk_bench';

const clients: Readonly<Record<string, (endpoint: string) => Client>> = {
  ours: (endpoint) => {
    const client = new Analytics({ writeKey, endpoint, maxQueueSize: 1_000_000 });
    return { track: (message) => client.track(message), close: () => client.close({ deadlineMs: 600_000 }) };
  },
  public: (host) => {
    const client = new PublicAnalytics({ writeKey, host, flushAt: 20 });
    return {
      track: (message) => {
        client.track(message);
      },
      close: () => client.closeAndFlush({ timeout: 600_000 }),
    };
  },
};

function messageOf(n: number) {
  return {
    userId: `user-${n % 1_000}`,
    event: 'Order Completed',
    properties: {
      orderId: `order-${n}`,
      total: 25.5,
      currency: 'EUR',
      coupon: 'autumn',
      path: '/checkout/done',
      isFirst: n % 2 === 0,
      products: [
        { sku: 'sku-1', name: 'A pair of socks', price: 5.5, quantity: 2 },
        { sku: 'sku-2', name: 'A hat', price: 14.5, quantity: 1 },
      ],
    },
    context: { ip: '192.0.2.7', userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36' },
  };
}

interface Spent {
  /** Microseconds within all calls. */
  readonly call: number;
  readonly turn: number;
}

async function send(client: Client, calls: number): Promise<Spent> {
  let call = 0;
  let turn = 0;
  for (let n = 0; n < calls; n += callsPerTurn) {
    const messages = Array.from({ length: callsPerTurn }, (_, i) => messageOf(n + i));
    await new Promise<void>((resolve) => {
      let before: NodeJS.CpuUsage;
      setImmediate(() => {
        before = process.threadCpuUsage();
        for (const message of messages) client.track(message);
        call += since(before);
      });
      // Follows when no promise of the first is left to resolve, before the event loop looks at sockets.
      setImmediate(() => {
        turn += since(before);
        resolve();
      });
    });
    await nextTurn();
  }
  return { call, turn };
}

function since(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

const [name = '', endpoint = '', count = ''] = process.argv.slice(2);
const open = clients[name];
if (open === undefined) throw new Error(`there is no client ${name}`);
const calls = Number(count);

const warmUp = open(endpoint);
await send(warmUp, Math.min(calls, 2_000));
await warmUp.close();

const client = open(endpoint);
const before = process.cpuUsage();
const spent = await send(client, calls);
await client.close();
const { user, system } = process.cpuUsage(before);
const cost: ClientCost = {
  call: spent.call / calls,
  turn: spent.turn / calls,
  sent: (user + system) / calls,
};
process.stdout.write(`${JSON.stringify(cost)}\n`);
