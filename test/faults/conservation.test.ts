/**
 * Conservation under faults: events while two of ten receivers fail at random, first without any other fault, and then with
 * every service killed in between. Each event that ingest accepted with a 200 must be delivered or be a dead letter.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptRecord } from '@tailrace/records';
import * as answers from '../support/receivers/answers.ts';
import { eventIdIn, openLedger, owedTo, type Ledger } from '../support/oracle/ledger.ts';
import { isConserved, report, type Arrival } from '../support/oracle/oracle.ts';
import { startPipelineOfProcesses, type Connection, type Pipeline } from '../support/processes/pipeline.ts';
import { readAll } from '../support/kafka/topics.ts';
import { bodyOf, callOf, sendUntilAccepted } from '../support/oracle/calls.ts';

const calmEvents = 2_000;
const eventsAmongKills = 4_000;
const batchSize = 20;
const senderCount = 8;
/** Senders pause while more deliveries than this are outstanding, so that every stage is busy when it is killed. */
const mostOpen = 2_000;

/** Each event goes to the two destinations of its source. */
const sourceCount = 5;
const destinationsPerSource = 2;
/** Rates, in thousandths, at which a failing receiver answers 503, resets the connection, or never answers. */
const failureRates = { serverError: 170, reset: 100, never: 20 };

const pipelineOptions = { retrySchedule: '500ms,500ms,1s,1s', retryWindow: '1m', deliveryTimeout: '5s' };

test('17.1 no event is lost while receivers fail at random, and while each service is killed and started again', async (t) => {
  await using pipeline = await startPipelineOfProcesses(pipelineOptions);
  await using sender = await openSender(pipeline);
  const { ledger } = sender;
  await send(sender, { from: 0, count: calmEvents }, []);
  await ledger.drained();
  const calm = await ledger.verdict();
  t.diagnostic(report(calm));
  assert.ok(isConserved(calm), report(calm));
  const { lateAnswer } = await causesOf(pipeline, calm.duplicates);
  assert.equal(calm.duplicates.length, lateAnswer, 'without a kill, only a late answer causes repeats');

  const services = [pipeline.ingest, pipeline.router, pipeline.delivery];
  const kills = services.map((service) => async () => {
    await service.kill();
    await service.restart();
  });
  await send(sender, { from: calmEvents, count: eventsAmongKills }, kills);
  await ledger.drained();
  // Stopping the services also ends duplicates that are still in flight.
  for (const service of services) await service.stop();
  const verdict = await ledger.verdict();
  t.diagnostic(report(verdict));
  const causes = await causesOf(pipeline, verdict.duplicates);
  t.diagnostic(`causes of the duplicates: ${JSON.stringify(causes)}`);
  assert.ok(isConserved(verdict), report(verdict));
  assert.equal(verdict.obligations, (calmEvents + eventsAmongKills) * destinationsPerSource);
});

/** Sends events, with the faults spread evenly among them; resolves when all are accepted and all faults are over. */
async function send(
  sender: Sender,
  { from, count }: { readonly from: number; readonly count: number },
  faults: readonly (() => Promise<void>)[],
): Promise<void> {
  let sent = 0;
  let accepted = 0;
  const faulted: Promise<void>[] = [];

  const sendInBatches = async (): Promise<void> => {
    while (sent < count) {
      const first = from + sent;
      sent += batchSize;
      await sender.send(Array.from({ length: batchSize }, (_, offset) => first + offset));
      accepted += batchSize;
      const fault = faults[faulted.length];
      if (fault && accepted >= (count * (faulted.length + 1)) / (faults.length + 1)) faulted.push(fault());
    }
  };
  await Promise.all(Array.from({ length: senderCount }, sendInBatches));
  await Promise.all(faulted);
  assert.equal(faulted.length, faults.length);
}

interface Sender extends AsyncDisposable {
  readonly ledger: Ledger;
  /** Sends the events with these numbers as one batch until it is accepted. */
  send(numbers: readonly number[]): Promise<void>;
}

/** Creates the sources, destinations and receivers. */
async function openSender(pipeline: Pipeline): Promise<Sender> {
  await using opened = new AsyncDisposableStack();
  const ledger = opened.use(await openLedger(pipeline.kafka, pipeline.names.deliveriesDead));
  const connections: Connection[] = [];
  for (let source = 0; source < sourceCount; source++) {
    const ids: string[] = [];
    const settings = [];
    for (let index = 0; index < destinationsPerSource; index++) {
      const isFailing = index === 0 && source < 2;
      const receiver = await ledger.receive(
        () => ids[index] ?? '',
        isFailing ? { answer: failAtRandom } : {},
      );
      settings.push({ webhooks: [{ url: receiver.url }] });
    }
    const connection = await pipeline.connect(settings);
    ids.push(...connection.destinationIds);
    connections.push(connection);
  }
  const all = opened.move();
  return {
    ledger,
    async send(numbers) {
      const connection = connections[((numbers[0] ?? 0) / batchSize) % sourceCount];
      assert.ok(connection);
      const calls = numbers.map(callOf);
      for (const call of calls) {
        for (const destinationId of connection.destinationIds) {
          ledger.owe({ eventId: call.messageId, destinationId, body: bodyOf(call) });
        }
      }
      await sendUntilAccepted(connection, calls);
      await ledger.until(() => ledger.open <= mostOpen);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

function failAtRandom(): answers.Answer {
  const dice = Math.random() * 1_000;
  const { serverError, reset, never } = failureRates;
  if (dice < serverError) return answers.status(503);
  if (dice < serverError + reset) return answers.reset;
  return dice < serverError + reset + never ? answers.never : answers.status(200);
}

interface Causes {
  /** The receiver got it, but responded too late. */
  lateAnswer: number;
  /** Sent again, because ingest had written it and was killed before it answered. */
  ingestKilled: number;
  /** Routed again, because the router was killed before it committed. */
  routerKilled: number;
  /** Attempted again, because delivery was killed before it committed. */
  deliveryKilled: number;
}

/** Counts the causes of the duplicates, as the topics show them. */
async function causesOf(pipeline: Pipeline, duplicates: readonly Arrival[]): Promise<Causes> {
  const { kafka, names } = pipeline;
  const ingested = tally(await readAll(kafka, names.events), ({ value }) => eventIdIn(value));
  const routed = tally(await readAll(kafka, names.deliveries), ({ headers }) =>
    owedTo({ eventId: String(headers['event-id']), destinationId: String(headers['destination-id']) }),
  );
  const attempts = (await readAll(kafka, names.attempts)).map(
    ({ value }) => JSON.parse(String(value)) as AttemptRecord,
  );
  const late = new Set(attempts.filter(({ reason }) => reason === 'timeout').map(owedTo));
  const causes: Causes = { lateAnswer: 0, ingestKilled: 0, routerKilled: 0, deliveryKilled: 0 };
  for (const { eventId, destinationId } of duplicates) {
    const delivery = owedTo({ eventId, destinationId });
    const isRoutedAgain = (routed.get(delivery) ?? 0) > 1;
    if (isRoutedAgain && (ingested.get(eventId) ?? 0) > 1) causes.ingestKilled++;
    else if (isRoutedAgain) causes.routerKilled++;
    else if (late.has(delivery)) causes.lateAnswer++;
    else causes.deliveryKilled++;
  }
  return causes;
}

function tally<T>(items: readonly T[], nameOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1);
  return counts;
}
