/** Sends calls at a steady rate to the replicas of ingest in turn, each batch again until it is accepted, and those of one user one after the other. */
import { realTimers } from '@tailrace/testing';
import { bodyOf, callOf, type NumberedCall } from '../support/oracle/calls.ts';
import { backOff, pace } from '../support/steadily.ts';
import type { Pod } from '../support/upgrade/pods.ts';
import { destinationsOf, type Send } from './facts.ts';
import { writeKeyOf, type Stage } from './stage.ts';

export interface Load extends Disposable {
  readonly sends: readonly Send[];
  /** Sends no new calls. Resolves when all are accepted. */
  finish(): Promise<void>;
}

/** Each sends the calls of users of its own, in turn, and at most one of each in a batch. */
const lanes = 15;
/** So many calls a second are of the source that all kinds of destinations have. */
const webPerSecond = 20;
const batchEveryMs = 100;
/** Then the client asks the next replica. */
const answersWithinMs = 5_000;

/** @param ratePerSecond of calls */
export function startLoad({ cast, destinations, ledger, pods }: Stage, ratePerSecond: number): Load {
  const users = cast.users.length;
  const most = Math.floor(users / lanes);
  const webLanes = Math.ceil(Math.min(1, webPerSecond / ratePerSecond) * lanes);
  const sends: Send[] = [];
  const startedAt = Date.now();
  let finishedAt = Infinity;
  let ended = false;
  const goesOn = (): boolean => !ended;

  const run = async (lane: number): Promise<void> => {
    const source = lane < webLanes ? 'web' : 'bulk';
    const audience = destinationsOf(destinations, source);
    const isDue = (number: number): boolean =>
      startedAt + (number * 1_000) / ratePerSecond <= Math.min(Date.now(), finishedAt);
    for (let number = lane; goesOn();) {
      const batch: Send[] = [];
      for (; batch.length < most && isDue(number); number += lanes) {
        const call = callOf(number, users);
        const body = bodyOf(call);
        for (const { id } of audience) ledger.owe({ eventId: call.messageId, destinationId: id, body });
        batch.push({ number, source, call, askedAt: Date.now() });
      }
      if (batch.length === 0 && finishedAt < Infinity) return;
      if (batch.length > 0) {
        sends.push(...batch);
        const calls = batch.map(({ call }) => call);
        while (goesOn() && !(await accepts(pods.ingest.next(), writeKeyOf(source), calls))) await backOff();
        if (goesOn()) for (const sent of batch) sent.acceptedAt = Date.now();
      }
      if (batch.length < most) await pace(batchEveryMs);
    }
  };
  const running = Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane)));
  return {
    sends,
    async finish() {
      finishedAt = Date.now();
      await running;
    },
    [Symbol.dispose]() {
      ended = true;
    },
  };
}

async function accepts(
  pod: Pod | undefined,
  writeKey: string,
  batch: readonly NumberedCall[],
): Promise<boolean> {
  if (!pod) return false;
  const headers = { authorization: `Basic ${btoa(`${writeKey}:`)}` };
  const late = new AbortController();
  const timer = realTimers.setTimeout(() => {
    late.abort();
  }, answersWithinMs);
  const body = JSON.stringify({ batch });
  return fetch(`${pod.url}/v1/batch`, { method: 'POST', headers, body, signal: late.signal })
    .then(async (response) => (await response.text()) === '{"success":true}')
    .catch(() => false)
    .finally(() => {
      realTimers.clearTimeout(timer);
    });
}
