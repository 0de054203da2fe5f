/** The clock of a replica of delivery is set a day ahead, and right again, under libfaketime. */
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { probesUrlOf } from '@tailrace/service/testing';
import { eventually } from '@tailrace/testing';
import { sharedBroker } from '../support/kafka/broker.ts';
import { connectAdmin, type KafkaAdmin } from '../support/kafka/kafka-admin.ts';
import { pageOf, seriesIn, sumOf } from '../support/metrics/scrape.ts';
import { notRun } from '../support/not-run.ts';
import { openClock, type ProcessClock } from '../support/processes/clock.ts';
import {
  destinationOf,
  newDelivery,
  openDeliveryStage,
  type DeliveryStage,
} from '../support/processes/delivery.ts';
import type { ServiceProcess } from '../support/processes/process.ts';
import { status } from '../support/receivers/answers.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';

const day = 25;
const opened = new AsyncDisposableStack();
let clock: ProcessClock | undefined;
let admin: KafkaAdmin;
let stage: DeliveryStage;
let receiver: Receiver;
let code = 200;
before(async () => {
  clock = await openClock();
  if (!clock) return;
  opened.use(clock);
  admin = opened.use(await connectAdmin((await sharedBroker()).brokers));
  receiver = opened.use(await startReceiver({ answer: () => status(code) }));
  stage = opened.use(await openDeliveryStage({ scheduleMs: [1_000] }));
});
after(() => opened.disposeAsync());

/** A replica with a clock of its own, and its group. */
async function startReplica(t: TestContext) {
  if (!clock) {
    notRun(t, 'libfaketime is a package of Debian');
    return undefined;
  }
  await clock.set(0);
  const replica = await stage.startProcess(clock.env);
  const groupId = stage.names.deliveries.replace(/deliveries$/, 'delivery');
  const destination = destinationOf(receiver.url);
  await stage.configure(destination);
  const members = (): Promise<string[]> => admin.memberIds(groupId);
  return { clock, replica, destination, members };
}

async function heartbeats(replica: ServiceProcess): Promise<number> {
  const series = seriesIn(await pageOf(probesUrlOf(replica)));
  const labels = { api: 'Heartbeat', outcome: 'ok' };
  return sumOf(series, { name: 'tailrace_kafka_requests_total', labels });
}

async function untilHeartbeats(replica: ServiceProcess, count: number): Promise<void> {
  const before = await heartbeats(replica);
  await eventually(
    () => heartbeats(replica),
    (now) => now >= before + count,
  );
}

async function readiness(replica: ServiceProcess): Promise<{ status: number; text: string }> {
  const response = await fetch(`${probesUrlOf(replica)}/readyz`);
  return { status: response.status, text: await response.text() };
}

test('a clock that was set ahead and right again does not end the membership of its group', async (t) => {
  const started = await startReplica(t);
  if (!started) return;
  await using replica = started.replica;
  const { destination, members } = started;
  const membersBefore = await members();
  await started.clock.set(day);
  await untilHeartbeats(replica, 3);
  await started.clock.set(0);
  // Four a second, of its group and its followers; a session lasts 10 s.
  await untilHeartbeats(replica, 60);
  assert.deepEqual(await members(), membersBefore);
  const delivery = newDelivery(destination.id);
  await stage.publish([delivery]);
  await receiver.find(({ body }) => body.equals(delivery.body));
});

test('a replica whose clock Kafka refuses is not ready and gives its partitions up, until its clock is right', async (t) => {
  const started = await startReplica(t);
  if (!started) return;
  await using replica = started.replica;
  const { destination, members } = started;
  await started.clock.set(day);
  code = 500;
  const delivery = newDelivery(destination.id);
  await stage.publish([delivery]);
  await eventually(
    () => readiness(replica),
    ({ status, text }) => status === 503 && text.includes('Kafka refuses records for their time'),
  );
  await eventually(members, (ids) => ids.length === 0);

  code = 200;
  await started.clock.set(0);
  await eventually(members, (ids) => ids.length === 1);
  await eventually(
    () => readiness(replica),
    ({ status }) => status === 200,
  );
  await receiver.waitFor((requests) => requests.filter(({ body }) => body.equals(delivery.body)).length >= 2);
});
