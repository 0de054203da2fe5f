/** The bare forwarder as a process (bare-forwarder-process.ts). */
import { startChild } from '../processes/children.ts';

export interface ForwarderSettings {
  readonly url: string;
  readonly sharedSecret: string;
  /** The most requests at the same time. */
  readonly inFlight: number;
}

export interface FromForwarder {
  readonly kind: 'listening';
  readonly port: number;
}

export interface Forwarder extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
}

export async function startForwarder(settings: ForwarderSettings): Promise<Forwarder> {
  const args = [JSON.stringify(settings)];
  const child = startChild<never, FromForwarder>('pipeline/bare-forwarder-process.ts', args);
  const { port } = await child.receive('listening', 30_000);
  return { pid: child.pid, port, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
}
