/** Sends calls at a steady rate to the replicas of ingest in turn, each again until it is accepted, and those of one user one after the other. */
import { bodyOf, callOf, type NumberedCall } from '../support/oracle/calls.ts';
import { backOff, steadily } from '../support/steadily.ts';
import type { Pod } from '../support/upgrade/pods.ts';
import type { Send } from './facts.ts';
import { writeKey, type Stage } from './stage.ts';

export interface Load extends Disposable {
  readonly sends: readonly Send[];
  /** Resolves when all calls are sent and accepted. */
  readonly done: Promise<void>;
}

export function startLoad(stage: Stage, events: number, lengthMs: number): Load {
  const { cast, destinations, ledger, pods } = stage;
  const users = cast.users.length;
  const sends: Send[] = [];
  const last = new Map<string, Promise<void>>();
  const done = Promise.withResolvers<undefined>();
  let ended = false;

  const send = async (
    call: NumberedCall,
    number: number,
    before: Promise<void> | undefined,
  ): Promise<void> => {
    await before;
    const sent: Send = { number, call, askedAt: Date.now() };
    sends.push(sent);
    const body = bodyOf(call);
    for (const { id } of destinations) {
      ledger.owe({ eventId: call.messageId, destinationId: id, body });
    }
    while (!ended && !(await accepts(pods.ingest.next(), call))) await backOff();
    if (!ended) sent.acceptedAt = Date.now();
  };
  let number = 0;
  const everyMs = lengthMs / events;
  const startedAt = Date.now();
  // A busy machine is late; then several are due.
  const sending = steadily(Math.min(everyMs, 100), () => {
    while (number < events && startedAt + number * everyMs <= Date.now()) {
      const call = callOf(number, users);
      last.set(call.userId, send(call, number, last.get(call.userId)));
      number += 1;
    }
    if (number < events) return;
    sending[Symbol.dispose]();
    void Promise.all(last.values()).then(() => {
      done.resolve(undefined);
    });
  });
  return {
    sends,
    done: done.promise,
    [Symbol.dispose]() {
      ended = true;
      sending[Symbol.dispose]();
    },
  };
}

async function accepts(pod: Pod | undefined, call: NumberedCall): Promise<boolean> {
  if (!pod) return false;
  const headers = { authorization: `Basic ${btoa(`${writeKey}:`)}` };
  const body = JSON.stringify({ batch: [call] });
  return fetch(`${pod.url}/v1/batch`, { method: 'POST', headers, body }).then(
    async (response) => (await response.text()) === '{"success":true}',
    () => false,
  );
}
