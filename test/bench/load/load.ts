/**
 * The load generator: sends calls from this process, with a fixed number in flight or at a steady rate. The times of sending
 * and of the answer are recorded under the number of each call. Any answer except 200 ends the run.
 */
import { atRate, type Rate } from './at-rate.ts';
import { createCalls } from './calls.ts';
import { sharedNowMs } from '../processes/clock.ts';
import { connect, postHead, type Connection } from './connection.ts';

export interface Target {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of request `number`, ASCII, always of the same length; default: a single call. */
  readonly body?: (number: number) => string;
}

/** Times of calls on the shared clock, in milliseconds; index 0 is the first call of the run. */
export interface Sent {
  /** The number of the run's first call. */
  readonly first: number;
  readonly count: number;
  /** When a call was due; in a closed loop, when it was sent. */
  readonly dueAt: Float64Array;
  readonly sentAt: Float64Array;
  /** When its 200 had arrived. */
  readonly acceptedAt: Float64Array;
}

export interface Load {
  /** `inFlight` callers, each of which sends its next call when the previous one is answered. */
  closedLoop(options: { readonly count: number; readonly inFlight: number }): Promise<Sent>;
  /**
   * Calls at a rate, whether or not earlier ones are answered. Otherwise a stalled system would receive fewer calls and the
   * stall would not be measured.
   */
  openLoop(rate: Rate): Promise<Sent>;
  /** The first number of the next run; no number is used twice. */
  readonly next: number;
}

/** With more unanswered calls than this, the target does not keep up with the rate and the run is useless. */
const maxOpenCalls = 1_000;

export function createLoad({ port, path, headers, body: call = createCalls() }: Target): Load {
  const head = postHead(path, headers, call(0).length);
  let next = 0;

  const begin = (count: number): Sent => {
    const first = next;
    next += count;
    const times = (): Float64Array => new Float64Array(count).fill(NaN);
    return { first, count, dueAt: times(), sentAt: times(), acceptedAt: times() };
  };
  const sendOne = async (connection: Connection, sent: Sent, index: number): Promise<void> => {
    const request = head + call(sent.first + index);
    const sentAt = (sent.sentAt[index] = sharedNowMs());
    if (Number.isNaN(sent.dueAt[index])) sent.dueAt[index] = sentAt;
    const { status, body } = await connection.exchange(request);
    if (status !== 200) throw new Error(`call ${sent.first + index} was answered ${status}: ${body}`);
    sent.acceptedAt[index] = sharedNowMs();
  };

  return {
    get next() {
      return next;
    },

    async closedLoop({ count, inFlight }) {
      const sent = begin(count);
      const connections = await connectAll(port, inFlight);
      let index = 0;
      try {
        await Promise.all(
          connections.map(async (connection) => {
            while (index < count) await sendOne(connection, sent, index++);
          }),
        );
      } finally {
        for (const connection of connections) connection.close();
      }
      return sent;
    },

    async openLoop(rate) {
      const sent = begin(rate.count);
      const idle = await connectAll(port, 16);
      const all = new Set(idle);
      const sendOnIdle = async (index: number): Promise<void> => {
        if (all.size > maxOpenCalls) throw new Error(`${maxOpenCalls} calls are not answered`);
        // In turn, because the server closes connections that are not used.
        const connection = idle.shift() ?? (await connect(port));
        all.add(connection);
        await sendOne(connection, sent, index);
        idle.push(connection);
      };
      try {
        await atRate(rate, (index, dueAt) => {
          sent.dueAt[index] = dueAt;
          return sendOnIdle(index);
        });
      } finally {
        for (const connection of all) connection.close();
      }
      return sent;
    },
  };
}

function connectAll(port: number, count: number): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => connect(port)));
}
