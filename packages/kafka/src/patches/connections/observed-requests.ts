/**
 * Defect: the library's events leave out requests whose connection failed, and which requests were answered with an error, so what it sends
 * cannot be counted.
 *
 * Upstream: no issue found.
 *
 * Patch: connections report each request, with its outcome.
 */
import { requestApis, type OnRequest, type RequestApi, type RequestOutcome } from '../../observer.ts';
import { replacing, type LibraryClass } from '../apply.ts';

/** The library's class `Connection`: the members that are used here. */
interface Connection {
  /** Each client of the library has one. */
  readonly socketFactory: object;
  isConnected(): boolean;
  connect(): Promise<unknown>;
  send(message: { readonly request: { readonly apiName: string } }): Promise<unknown>;
}

const observers = new WeakMap<object, OnRequest>();
const apis = new Map<string, RequestApi>(requestApis.map((api) => [api, api]));
// The library uses the former name.
apis.set('GroupCoordinator', 'FindCoordinator');

/** Reports the requests of the client that is created with this socket factory. */
export function observeRequests(socketFactory: object, onRequest: OnRequest): void {
  observers.set(socketFactory, onRequest);
}

export const observedRequests = replacing(
  'network/connection',
  (Original: LibraryClass<Connection>): LibraryClass<Connection> =>
    class ObservedConnection extends Original {
      override connect(): Promise<unknown> {
        const onRequest = this.isConnected() ? undefined : observers.get(this.socketFactory);
        return onRequest ? observed(onRequest, 'Connect', super.connect()) : super.connect();
      }

      override send(message: Parameters<Connection['send']>[0]): Promise<unknown> {
        const onRequest = observers.get(this.socketFactory);
        const sent = super.send(message);
        return onRequest ? observed(onRequest, apis.get(message.request.apiName) ?? 'other', sent) : sent;
      }
    },
);

async function observed<T>(onRequest: OnRequest, api: RequestApi, request: Promise<T>): Promise<T> {
  const startedAt = performance.now();
  let outcome: RequestOutcome = 'ok';
  try {
    return await request;
  } catch (error) {
    outcome = outcomeOf(error);
    throw error;
  } finally {
    onRequest(api, outcome, (performance.now() - startedAt) / 1_000);
  }
}

/** Errors of Kafka have a type. A connection that cannot be opened in time has no class of its own in the library. */
function outcomeOf(error: unknown): RequestOutcome {
  const { name = '', message = '', type } = error as { name?: string; message?: string; type?: unknown };
  if (typeof type === 'string') return 'error';
  const isTimeout = name === 'KafkaJSRequestTimeoutError' || message === 'Connection timeout';
  return isTimeout ? 'timeout' : 'disconnected';
}
