/**
 * A broker of three loses its disk under load and is replaced by an empty one. Nothing is lost, and doctor, which the handbook names,
 * says when the copies are complete again. Then a second broker ends for good: what the first one has lost is delivered from its new disk.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyOf, callOf, sendUntilAccepted } from '../../support/oracle/calls.ts';
import { ownCluster } from '../../support/kafka/cluster.ts';
import { eventually } from '@tailrace/testing';
import { openLedger, type Ledger } from '../../support/oracle/ledger.ts';
import { isConserved, report } from '../../support/oracle/oracle.ts';
import { tailrace } from '../../support/processes/cli.ts';
import { startPipelineOfProcesses, type Connection } from '../../support/processes/pipeline.ts';
import * as answers from '../../support/receivers/answers.ts';
import { pace } from '../../support/steadily.ts';

const partitions = 3;
const retrySchedule = '1s,5s,5s';
const batchSize = 10;
const pauseMs = 200;
const mostOpen = 1_000;

test('a broker that loses its disk loses no event, and its replacement gets all copies', async (t) => {
  const properties = { 'default.replication.factor': 3, 'min.insync.replicas': 2 };
  await using cluster = await ownCluster({ properties });
  await using pipeline = await startPipelineOfProcesses({
    brokers: cluster.brokers,
    partitions,
    retrySchedule,
    retryWindow: '10m',
  });
  const { kafka, names } = pipeline;
  await using ledger = await openLedger(kafka, names.deliveriesDead);
  const ids: string[] = [];
  const receivers = [
    await ledger.receive(() => ids[0] ?? ''),
    await ledger.receive(() => ids[1] ?? '', { answer: failOften }),
  ];
  const connection = await pipeline.connect(receivers.map(({ url }) => ({ webhooks: [{ url }] })));
  ids.push(...connection.destinationIds);
  await using load = startLoad(connection, ledger);
  const env = {
    KAFKA_BROKERS: cluster.brokers.join(','),
    TAILRACE_TOPIC_PREFIX: names.events.slice(0, -'events'.length),
    TAILRACE_PARTITIONS: String(partitions),
    TAILRACE_RETRY_SCHEDULE: retrySchedule,
    TAILRACE_SECRET_KEY: '0123456789abcdef'.repeat(4),
  };
  /** As the job of the handbook prints it. */
  const replication = async (): Promise<string> => {
    const { stdout } = await tailrace(['doctor', '--output', 'json'], env);
    const { findings } = JSON.parse(stdout) as { findings: { about: string; level: string; says: string }[] };
    const found = findings.filter(({ about }) => about === 'replication');
    return found.map(({ level, says }) => `${level}: ${says}`).join('\n');
  };

  await ledger.until(() => ledger.delivered > 200);
  await cluster.node(2).kill();
  await cluster.node(2).replaceDisk();
  const lostAt = Date.now();
  await untilDelivered(ledger, 200);
  t.diagnostic(`deliveries continue ${Math.round((Date.now() - lostAt) / 1_000)} s after the loss`);
  assert.match(await replication(), /^warn: replicas are out of sync/);
  await cluster.node(2).restart();
  await eventually(replication, (says) => says === 'ok: all replicas are in sync');
  t.diagnostic(`doctor finds all copies ${Math.round((Date.now() - lostAt) / 1_000)} s after the loss`);

  await cluster.node(1).kill();
  await untilDelivered(ledger, 200);
  await load.end();
  await ledger.drained();
  const verdict = await ledger.verdict();
  t.diagnostic(report(verdict));
  assert.ok(isConserved(verdict), report(verdict));
  assert.equal(verdict.obligations, load.sent * ids.length);
});

function failOften(): answers.Answer {
  return answers.status(Math.random() < 0.3 ? 503 : 200);
}

async function untilDelivered(ledger: Ledger, more: number): Promise<void> {
  const enough = ledger.delivered + more;
  await ledger.until(() => ledger.delivered >= enough);
}

interface Load extends AsyncDisposable {
  /** Events that were accepted. */
  readonly sent: number;
  end(): Promise<void>;
}

/** Sends a batch after the other, each until it is accepted. */
function startLoad(connection: Connection, ledger: Ledger): Load {
  let sent = 0;
  let ended = false;
  const loop = async (): Promise<void> => {
    while (!ended) {
      const calls = Array.from({ length: batchSize }, () => callOf(sent++));
      for (const call of calls) {
        for (const destinationId of connection.destinationIds) {
          ledger.owe({ eventId: call.messageId, destinationId, body: bodyOf(call) });
        }
      }
      await sendUntilAccepted(connection, calls);
      await ledger.until(() => ledger.open <= mostOpen);
      await pace(pauseMs);
    }
  };
  const looping = loop();
  const end = async (): Promise<void> => {
    ended = true;
    await looping;
  };
  return {
    get sent() {
      return sent;
    },
    end,
    [Symbol.asyncDispose]: end,
  };
}
